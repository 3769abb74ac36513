/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link-watch-test.c - what the kernel's messages say about an interface
 */
#include <glib.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "port/link-watch.h"

struct Message {
    char bytes[1024] __attribute__((aligned(8)));
    struct nlmsghdr *header;
};

static void begin(struct Message *message, uint16_t type, int index, unsigned flags)
{
    struct ifinfomsg *info;

    message->header = mnl_nlmsg_put_header(message->bytes);
    message->header->nlmsg_type = type;
    info = mnl_nlmsg_put_extra_header(message->header, sizeof(*info));
    info->ifi_index = index;
    info->ifi_flags = flags;
}

static void add_master(struct Message *message, unsigned master, const char *kind)
{
    struct nlattr *nest;

    mnl_attr_put_u32(message->header, IFLA_MASTER, master);
    nest = mnl_attr_nest_start(message->header, IFLA_LINKINFO);
    mnl_attr_put_strz(message->header, IFLA_INFO_KIND, "tun");
    if (kind) {
        mnl_attr_put_strz(message->header, IFLA_INFO_SLAVE_KIND, kind);
    }
    mnl_attr_nest_end(message->header, nest);
}

static void test_plain(void)
{
    struct Message message;
    struct XnLink link;

    begin(&message, RTM_NEWLINK, 7, IFF_UP | IFF_BROADCAST);
    mnl_attr_put_strz(message.header, IFLA_IFNAME, "vif1.0");
    mnl_attr_put_u32(message.header, IFLA_MTU, 9000);
    g_assert_true(link_watch_parse(message.header, &link));
    g_assert_cmpuint(link.index, ==, 7);
    g_assert_true(link.up);
    g_assert_cmpuint(link.mtu, ==, 9000);
    g_assert_cmpuint(link.bridge, ==, 0);
    /* Running, but set down. */
    begin(&message, RTM_NEWLINK, 7, IFF_RUNNING | IFF_LOWER_UP);
    g_assert_true(link_watch_parse(message.header, &link));
    g_assert_false(link.up);
    g_assert_cmpuint(link.mtu, ==, 0);
}

static void test_master(void)
{
    static const struct {
        const char *kind;
        unsigned bridge;
    } cases[] = {{"bridge", 3}, {"openvswitch", 0}, {"bond", 0}, {"bridges", 0}, {NULL, 0}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct Message message;
        struct XnLink link;

        begin(&message, RTM_NEWLINK, 7, IFF_UP);
        add_master(&message, 3, cases[i].kind);
        g_assert_true(link_watch_parse(message.header, &link));
        g_assert_cmpuint(link.bridge, ==, cases[i].bridge);
    }
}

/* -1: the kernel does not say. */
static void put_setting(struct Message *message, uint16_t type, int value)
{
    if (value >= 0) {
        mnl_attr_put_u8(message->header, type, (uint8_t)value);
    }
}

static void test_forwards(void)
{
    static const struct {
        const char *kind;
        int state;
        int isolated;
        bool forwards;
    } cases[] = {
        {"bridge", BR_STATE_FORWARDING, 0, true},
        {"bridge", BR_STATE_FORWARDING, -1, true},
        {"bridge", BR_STATE_FORWARDING, 1, false},
        {"bridge", BR_STATE_LEARNING, 0, false},
        {"bridge", BR_STATE_DISABLED, 0, false},
        {"bridge", BR_STATE_BLOCKING, 0, false},
        {"bridge", -1, -1, false},
        {"bond", BR_STATE_FORWARDING, 0, false},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct Message message;
        struct XnLink link;
        struct nlattr *nest, *data;

        begin(&message, RTM_NEWLINK, 7, IFF_UP);
        mnl_attr_put_u32(message.header, IFLA_MASTER, 3);
        nest = mnl_attr_nest_start(message.header, IFLA_LINKINFO);
        mnl_attr_put_strz(message.header, IFLA_INFO_SLAVE_KIND, cases[i].kind);
        data = mnl_attr_nest_start(message.header, IFLA_INFO_SLAVE_DATA);
        put_setting(&message, IFLA_BRPORT_STATE, cases[i].state);
        put_setting(&message, IFLA_BRPORT_ISOLATED, cases[i].isolated);
        mnl_attr_nest_end(message.header, data);
        mnl_attr_nest_end(message.header, nest);
        g_assert_true(link_watch_parse(message.header, &link));
        g_assert_cmpint(link.forwards, ==, cases[i].forwards);
    }
}

static void test_filters_vlans(void)
{
    static const struct {
        const char *kind;
        int filtering;
        bool filters;
    } cases[] = {
        {"bridge", 1, true}, {"bridge", 0, false}, {"bridge", -1, false}, {"vxlan", 1, false}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct Message message;
        struct XnLink link;
        struct nlattr *nest, *data;

        begin(&message, RTM_NEWLINK, 3, IFF_UP);
        nest = mnl_attr_nest_start(message.header, IFLA_LINKINFO);
        mnl_attr_put_strz(message.header, IFLA_INFO_KIND, cases[i].kind);
        data = mnl_attr_nest_start(message.header, IFLA_INFO_DATA);
        put_setting(&message, IFLA_BR_VLAN_FILTERING, cases[i].filtering);
        mnl_attr_nest_end(message.header, data);
        mnl_attr_nest_end(message.header, nest);
        g_assert_true(link_watch_parse(message.header, &link));
        g_assert_cmpint(link.filters_vlans, ==, cases[i].filters);
    }
}

static void test_gone(void)
{
    struct Message message;
    struct XnLink link;

    begin(&message, RTM_DELLINK, 9, 0);
    g_assert_true(link_watch_parse(message.header, &link));
    g_assert_cmpuint(link.index, ==, 9);
}

static void test_other_messages(void)
{
    struct Message message;
    struct XnLink link = {.index = 1};

    begin(&message, RTM_NEWADDR, 7, 0);
    g_assert_false(link_watch_parse(message.header, &link));
    begin(&message, NLMSG_DONE, 7, 0);
    g_assert_false(link_watch_parse(message.header, &link));
    begin(&message, RTM_NEWLINK, 0, 0);
    g_assert_false(link_watch_parse(message.header, &link));
    begin(&message, RTM_NEWLINK, -1, 0);
    g_assert_false(link_watch_parse(message.header, &link));
    /* Cut off. */
    begin(&message, RTM_NEWLINK, 7, 0);
    message.header->nlmsg_len -= 4;
    g_assert_false(link_watch_parse(message.header, &link));
    g_assert_cmpuint(link.index, ==, 1);
}

/* An attribute of another size than it should have is not there. */
static void test_wrong_attributes(void)
{
    struct Message message;
    struct XnLink link;

    begin(&message, RTM_NEWLINK, 7, IFF_UP);
    mnl_attr_put_u16(message.header, IFLA_MTU, 9000);
    mnl_attr_put_u64(message.header, IFLA_MASTER, 3);
    g_assert_true(link_watch_parse(message.header, &link));
    g_assert_cmpuint(link.mtu, ==, 0);
    g_assert_cmpuint(link.bridge, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/link-watch/plain", test_plain);
    g_test_add_func("/link-watch/master", test_master);
    g_test_add_func("/link-watch/forwards", test_forwards);
    g_test_add_func("/link-watch/filters VLANs", test_filters_vlans);
    g_test_add_func("/link-watch/gone", test_gone);
    g_test_add_func("/link-watch/other-messages", test_other_messages);
    g_test_add_func("/link-watch/wrong-attributes", test_wrong_attributes);
    return g_test_run();
}
