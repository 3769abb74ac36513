/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-store.h - a simulated domain's way to xenstore: what its kernel's xenbus driver is.
 */
#ifndef XENSIM_GUEST_STORE_H
#define XENSIM_GUEST_STORE_H

#include <stdbool.h>

/*
 * Make this process's domain ($XENSIM_DOMID, alive) known to xenstored and listen on
 * $XENSIM_DIR/store.DOMID.  A client of libxenstore with XENSTORED_PATH set to that socket speaks
 * as this domain, with its permissions.  False after saying why on standard error.
 */
bool guest_store_start(void);

/* Serve clients until killed. */
void guest_store_serve(void);

#endif
