/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link-set.c - changes that the daemon makes to the host's network interfaces
 */
#include "port/link-set.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel's IFALIASZ counts the final 0, which it does not get. */
#define LINK_SET_ALIAS_MAX 255u
/* The request, and the kernel's answer, which repeats it. */
#define LINK_SET_BUFFER 1024

bool link_set_alias(unsigned index, const char *alias)
{
    union {
        struct nlmsghdr message;
        char bytes[LINK_SET_BUFFER];
    } buffer;
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer.bytes);
    struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    struct ifinfomsg *link;
    ssize_t length;
    bool ok = false;

    if (!socket) {
        return false;
    }
    message->nlmsg_type = RTM_SETLINK;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    message->nlmsg_seq = 1;
    link = mnl_nlmsg_put_extra_header(message, sizeof(*link));
    link->ifi_family = AF_UNSPEC;
    link->ifi_index = (int)index;
    mnl_attr_put(message, IFLA_IFALIAS, strnlen(alias, LINK_SET_ALIAS_MAX), alias);
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(socket, message, message->nlmsg_len) < 0) {
        goto out;
    }
    length = mnl_socket_recvfrom(socket, buffer.bytes, sizeof(buffer));
    if (length < 0) {
        goto out;
    }
    ok =
        mnl_cb_run(buffer.bytes, (size_t)length, 1, mnl_socket_get_portid(socket), NULL, NULL) >= 0;

out:;
    int saved_errno = errno;

    mnl_socket_close(socket);
    errno = saved_errno;
    return ok;
}
