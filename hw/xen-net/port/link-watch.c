/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link-watch.c - what becomes of the host's network interfaces
 *
 * Theory of operation
 *
 * Two rtnetlink sockets. One is a member of the kernel's group for link changes; only indices are
 * taken from what it says, and when its buffer overflows (300 vifs put into a bridge at once) every
 * interface counts as changed. The other asks for one interface at a time, and the kernel answers
 * before the call returns, so nobody waits.
 *
 * Open vSwitch too makes itself the master of its ports, by an interface that is never up. Only the
 * master of a port whose kind is "bridge" counts.
 */
#include "port/link-watch.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

/* Notifications of many interfaces that change at once. */
#define LINK_WATCH_RECEIVE_BUFFER (1 << 20)
/* An interface with all its attributes; the kernel's own buffer for one is smaller. */
#define LINK_WATCH_BUFFER 32768
#define LINK_WATCH_BRIDGE "bridge"

union XnLinkBuffer {
    struct nlmsghdr message;
    char bytes[LINK_WATCH_BUFFER];
};

struct XnLinkWatch {
    struct mnl_socket *changes;
    struct mnl_socket *questions;
    uint32_t sequence;
    /* What is left of the last datagram. */
    const struct nlmsghdr *next;
    int left;
    union XnLinkBuffer received;
    /* Of the other socket: a question, then what comes back. */
    union XnLinkBuffer answer;
};

static bool link_watch_fail(GError **error, const char *what, int error_number)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(error_number), "%s: %s", what,
                g_strerror(error_number));
    return false;
}

static struct mnl_socket *link_watch_socket(unsigned groups, int flags, GError **error)
{
    struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);

    if (!socket || mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
        link_watch_fail(error, "cannot watch the network interfaces", errno);
        if (socket) {
            mnl_socket_close(socket);
        }
        return NULL;
    }
    return socket;
}

struct XnLinkWatch *link_watch_open(GError **error)
{
    struct XnLinkWatch *watch = g_new0(struct XnLinkWatch, 1);
    int size = LINK_WATCH_RECEIVE_BUFFER;

    watch->changes = link_watch_socket(RTMGRP_LINK, SOCK_NONBLOCK, error);
    if (!watch->changes) {
        goto fail;
    }
    watch->questions = link_watch_socket(0, 0, error);
    if (!watch->questions) {
        goto fail;
    }
    /* A smaller buffer overflows sooner, which is no error. */
    setsockopt(mnl_socket_get_fd(watch->changes), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    return watch;

fail:
    link_watch_close(watch);
    return NULL;
}

void link_watch_close(struct XnLinkWatch *watch)
{
    if (!watch) {
        return;
    }
    if (watch->changes) {
        mnl_socket_close(watch->changes);
    }
    if (watch->questions) {
        mnl_socket_close(watch->questions);
    }
    g_free(watch);
}

int link_watch_fd(const struct XnLinkWatch *watch)
{
    return mnl_socket_get_fd(watch->changes);
}

/* What is in IFLA_LINKINFO: the kind of interface, that of its master, and data of each. */
struct XnLinkInfo {
    const char *kind;
    const struct nlattr *data;
    const char *master_kind;
    const struct nlattr *port_data;
};

static bool link_watch_is_bridge(const char *kind)
{
    return kind && strcmp(kind, LINK_WATCH_BRIDGE) == 0;
}

static const char *link_watch_text(const struct nlattr *attribute)
{
    return mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0 ? mnl_attr_get_str(attribute)
                                                                  : NULL;
}

static void link_watch_parse_info(const struct nlattr *nest, struct XnLinkInfo *ret_info)
{
    const struct nlattr *attribute;

    mnl_attr_for_each_nested(attribute, nest)
    {
        switch (mnl_attr_get_type(attribute)) {
        case IFLA_INFO_KIND:
            ret_info->kind = link_watch_text(attribute);
            break;
        case IFLA_INFO_DATA:
            ret_info->data = attribute;
            break;
        case IFLA_INFO_SLAVE_KIND:
            ret_info->master_kind = link_watch_text(attribute);
            break;
        case IFLA_INFO_SLAVE_DATA:
            ret_info->port_data = attribute;
            break;
        default:
            break;
        }
    }
}

/* A setting of one byte; `otherwise` when it is not there. */
static unsigned link_watch_setting(const struct nlattr *nest, uint16_t type, unsigned otherwise)
{
    const struct nlattr *attribute;

    if (!nest) {
        return otherwise;
    }
    mnl_attr_for_each_nested(attribute, nest)
    {
        if (mnl_attr_get_type(attribute) == type &&
            mnl_attr_validate(attribute, MNL_TYPE_U8) >= 0) {
            return mnl_attr_get_u8(attribute);
        }
    }
    return otherwise;
}

bool link_watch_parse(const struct nlmsghdr *message, struct XnLink *ret_link)
{
    const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
    const struct nlattr *attribute;
    struct XnLink link = {0};
    struct XnLinkInfo details = {0};
    unsigned master = 0;

    if ((message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) ||
        mnl_nlmsg_get_payload_len(message) < sizeof(*info) || info->ifi_index <= 0) {
        return false;
    }
    link.index = (unsigned)info->ifi_index;
    link.up = info->ifi_flags & IFF_UP;
    mnl_attr_for_each(attribute, message, sizeof(*info))
    {
        switch (mnl_attr_get_type(attribute)) {
        case IFLA_MTU:
            if (mnl_attr_validate(attribute, MNL_TYPE_U32) >= 0) {
                link.mtu = mnl_attr_get_u32(attribute);
            }
            break;
        case IFLA_MASTER:
            if (mnl_attr_validate(attribute, MNL_TYPE_U32) >= 0) {
                master = mnl_attr_get_u32(attribute);
            }
            break;
        case IFLA_LINKINFO:
            link_watch_parse_info(attribute, &details);
            break;
        default:
            break;
        }
    }
    if (link_watch_is_bridge(details.master_kind)) {
        link.bridge = master;
        link.forwards =
            link_watch_setting(details.port_data, IFLA_BRPORT_STATE, 0) == BR_STATE_FORWARDING &&
            link_watch_setting(details.port_data, IFLA_BRPORT_ISOLATED, 0) == 0;
    }
    link.filters_vlans = link_watch_is_bridge(details.kind) &&
                         link_watch_setting(details.data, IFLA_BR_VLAN_FILTERING, 0) != 0;
    *ret_link = link;
    return true;
}

bool link_watch_next(struct XnLinkWatch *watch, unsigned *ret_index)
{
    while (true) {
        struct XnLink link;
        bool known = false;
        ssize_t length;

        while (!known && watch->left > 0 && mnl_nlmsg_ok(watch->next, watch->left)) {
            known = link_watch_parse(watch->next, &link);
            watch->next = mnl_nlmsg_next(watch->next, &watch->left);
        }
        if (known) {
            *ret_index = link.index;
            return true;
        }
        watch->left = 0;
        length = mnl_socket_recvfrom(watch->changes, &watch->received, sizeof(watch->received));
        if (length >= 0) {
            watch->next = &watch->received.message;
            watch->left = (int)length;
        } else if (errno == ENOBUFS || errno == ENOSPC) {
            *ret_index = 0;
            return true;
        } else if (errno != EINTR) {
            return false;
        }
    }
}

/* Sends the question in `answer` and reads what comes back; 0 or an errno. */
static int link_watch_ask(struct XnLinkWatch *watch, struct nlmsghdr *question,
                          struct XnLink *ret_link)
{
    uint32_t sequence = ++watch->sequence;

    question->nlmsg_seq = sequence;
    if (mnl_socket_sendto(watch->questions, question, question->nlmsg_len) < 0) {
        return errno;
    }
    while (true) {
        const struct nlmsghdr *message = &watch->answer.message;
        ssize_t length =
            mnl_socket_recvfrom(watch->questions, &watch->answer, sizeof(watch->answer));

        if (length < 0 && errno != EINTR) {
            return errno;
        }
        if (length < 0 || !mnl_nlmsg_ok(message, (int)length) || message->nlmsg_seq != sequence) {
            continue;
        }
        if (message->nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *failure = mnl_nlmsg_get_payload(message);

            return mnl_nlmsg_get_payload_len(message) < sizeof(*failure) ? EBADMSG
                                                                         : -failure->error;
        }
        return ret_link && link_watch_parse(message, ret_link) ? 0 : EBADMSG;
    }
}

static struct nlmsghdr *link_watch_question(struct XnLinkWatch *watch, uint16_t type,
                                            uint16_t flags, unsigned index)
{
    struct nlmsghdr *question = mnl_nlmsg_put_header(&watch->answer);
    struct ifinfomsg *info;

    question->nlmsg_type = type;
    question->nlmsg_flags = NLM_F_REQUEST | flags;
    info = mnl_nlmsg_put_extra_header(question, sizeof(*info));
    info->ifi_family = AF_UNSPEC;
    info->ifi_index = (int)index;
    return question;
}

bool link_watch_read(struct XnLinkWatch *watch, unsigned index, struct XnLink *ret_link,
                     GError **error)
{
    struct nlmsghdr *question = link_watch_question(watch, RTM_GETLINK, 0, index);
    int failure;

    mnl_attr_put_u32(question, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    failure = link_watch_ask(watch, question, ret_link);
    return failure == 0 || link_watch_fail(error, "cannot read the interface's state", failure);
}

bool link_watch_set_mtu(struct XnLinkWatch *watch, unsigned index, unsigned mtu, GError **error)
{
    struct nlmsghdr *question = link_watch_question(watch, RTM_NEWLINK, NLM_F_ACK, index);
    int failure;

    mnl_attr_put_u32(question, IFLA_MTU, mtu);
    failure = link_watch_ask(watch, question, NULL);
    return failure == 0 || link_watch_fail(error, "cannot set the interface's MTU", failure);
}
