/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link-set.h - changes that the daemon makes to the host's network interfaces
 */
#ifndef XN_PORT_LINK_SET_H
#define XN_PORT_LINK_SET_H

#include <stdbool.h>

/*
 * Sets the alias of the interface `index`, of at most 255 bytes. False with errno. Any thread.
 * (Over netlink, which asks for CAP_NET_ADMIN only; the file in /sys is root's.)
 */
bool link_set_alias(unsigned index, const char *alias);

#endif
