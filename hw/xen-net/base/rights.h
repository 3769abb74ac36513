/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights.h - a thread gives up what it may do more than others
 */
#ifndef XN_BASE_RIGHTS_H
#define XN_BASE_RIGHTS_H

/*
 * Drops all capabilities of the calling thread, for good. What the process holds (descriptors, its
 * user) it keeps. That it had none is fine.
 */
void rights_drop_capabilities(void);

#endif
