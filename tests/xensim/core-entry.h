/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-entry.h - death between two stores to a ring.
 *
 * Between the call that copies a frame and the one that tells the guest of it a backend makes no
 * call that could be made to fail: it stores responses into the ring, and then publishes them. A
 * rule for the calls named "entry" counts those stores, to what is behind the first 64 bytes of a
 * page that is mapped writable, where a ring has its entries; the store that the rule names is
 * made, and then the process is killed.
 *
 * While there is such a rule those pages are read-only, and each store to them is made as a single
 * step of the processor, so everything is slow. Only on x86-64.
 */
#ifndef XENSIM_ENTRY_H
#define XENSIM_ENTRY_H

#include <stdint.h>

/* The process has mapped pages of another domain, to write to them; and has them no more. */
void entry_mapped(void *address, uint32_t pages);
void entry_unmapped(void *address, uint32_t pages);

/* There is a rule for stores: begins to watch them, unless it has. */
void entry_watch(void);

#endif
