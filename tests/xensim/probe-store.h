/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe-store.h - the probe's calls to xenstore.
 */
#ifndef XENSIM_PROBE_STORE_H
#define XENSIM_PROBE_STORE_H

#include <stdbool.h>

/* Lines about each call, for people. */
extern const char probe_store_help[];

/* Answers the call if it is one to xenstore.  False: it is none. */
bool probe_store_call(char **words, int count);

#endif
