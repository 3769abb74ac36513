/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates-test.c - what is shown of counters at two moments
 */

#include "tools/rates.h"

static JsonArray *parse(const char *text)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;

    json_parser_load_from_data(parser, text, -1, &error);
    g_assert_no_error(error);
    return json_array_ref(json_node_get_array(json_parser_get_root(parser)));
}

static const char earlier[] =
    "[{\"name\":\"vif1.0\",\"state\":\"Connected\",\"queues\":["
    "{\"guest_tx_packets\":100,\"guest_tx_bytes\":1000,\"evtchn_events\":7},"
    "{\"guest_tx_packets\":0}]},"
    "{\"name\":\"vif2.0\",\"state\":\"Connected\",\"queues\":[{\"guest_rx_packets\":500}]}]";
static const char later[] =
    "[{\"name\":\"vif1.0\",\"state\":\"Connected\",\"queues\":["
    "{\"guest_tx_packets\":300,\"guest_tx_bytes\":2000,\"evtchn_events\":9},"
    "{\"guest_tx_packets\":0}]},"
    "{\"name\":\"vif2.0\",\"state\":\"Closed\",\"queues\":["
    "{\"guest_rx_packets\":100,\"guest_rx_drop_bad_grant\":6,\"guest_tx_drop_port\":4}]},"
    "{\"name\":\"vif3.0\",\"state\":\"InitWait\",\"queues\":[{\"guest_tx_packets\":99}]}]";

static const struct XnRatesRow *row(const GArray *rows, guint index)
{
    g_assert_cmpuint(index, <, rows->len);
    return &g_array_index(rows, struct XnRatesRow, index);
}

static void test_rates(void)
{
    g_autoptr(JsonArray) before = parse(earlier);
    g_autoptr(JsonArray) after = parse(later);
    g_autoptr(GArray) rows = rates_between(before, after, 2, false, XN_RATES_BY_NAME);

    g_assert_cmpuint(rows->len, ==, 3);
    g_assert_cmpstr(row(rows, 0)->name, ==, "vif1.0");
    g_assert_cmpint(row(rows, 0)->queue, ==, -1);
    g_assert_cmpfloat(row(rows, 0)->rates.guest_tx_packets, ==, 100);
    g_assert_cmpfloat(row(rows, 0)->rates.guest_tx_bytes, ==, 500);
    g_assert_cmpfloat(row(rows, 0)->rates.events, ==, 1);
    /* A counter that shrank, drops of both directions, and a vif that is new. */
    g_assert_cmpfloat(row(rows, 1)->rates.guest_rx_packets, ==, 0);
    g_assert_cmpfloat(row(rows, 1)->rates.drops, ==, 5);
    g_assert_cmpstr(row(rows, 1)->state, ==, "Closed");
    g_assert_cmpfloat(row(rows, 2)->rates.guest_tx_packets, ==, 0);
}

static void test_queues(void)
{
    g_autoptr(JsonArray) before = parse(earlier);
    g_autoptr(JsonArray) after = parse(later);
    g_autoptr(GArray) rows = rates_between(before, after, 2, true, XN_RATES_BY_NAME);

    g_assert_cmpuint(rows->len, ==, 3);
    g_assert_cmpint(row(rows, 0)->queue, ==, 0);
    g_assert_cmpfloat(row(rows, 0)->rates.guest_tx_packets, ==, 100);
    g_assert_cmpstr(row(rows, 1)->name, ==, "vif2.0");
}

static void test_order(void)
{
    g_autoptr(JsonArray) before = parse(earlier);
    g_autoptr(JsonArray) after = parse(later);
    g_autoptr(GArray) by_drops = rates_between(before, after, 2, false, XN_RATES_BY_DROPS);
    g_autoptr(GArray) by_guest_tx = rates_between(before, after, 2, false, XN_RATES_BY_GUEST_TX);

    g_assert_cmpstr(row(by_drops, 0)->name, ==, "vif2.0");
    g_assert_cmpstr(row(by_drops, 1)->name, ==, "vif1.0");
    g_assert_cmpstr(row(by_guest_tx, 0)->name, ==, "vif1.0");
    g_assert_cmpstr(row(by_guest_tx, 1)->name, ==, "vif2.0");
}

static void test_first(void)
{
    g_autoptr(JsonArray) after = parse(later);
    g_autoptr(GArray) rows = rates_between(NULL, after, 0, false, XN_RATES_BY_GUEST_TX);

    g_assert_cmpuint(rows->len, ==, 3);
    g_assert_cmpfloat(row(rows, 0)->rates.guest_tx_packets, ==, 0);
}

static void test_format(void)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0"},        {1, "1"},         {999.4, "999"},     {999.6, "1.00k"}, {1234, "1.23k"},
        {9995, "10.0k"}, {12345, "12.3k"}, {99960, "100k"},    {123456, "123k"}, {999600, "1.00M"},
        {25e9, "25.0G"}, {1e13, "10.0T"},  {1e18, "1000000T"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = rates_format(cases[i].number);

        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rates/rates", test_rates);
    g_test_add_func("/rates/queues", test_queues);
    g_test_add_func("/rates/order", test_order);
    g_test_add_func("/rates/first", test_first);
    g_test_add_func("/rates/format", test_format);
    return g_test_run();
}
