/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics-test.c - the text that monitoring systems read
 */
#include <string.h>

#include "tools/metrics.h"

static JsonArray *parse(const char *text)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;

    json_parser_load_from_data(parser, text, -1, &error);
    g_assert_no_error(error);
    return json_array_ref(json_node_get_array(json_parser_get_root(parser)));
}

static JsonArray *two_vifs(void)
{
    return parse("[{\"name\":\"vif1.0\",\"domid\":1,\"devid\":0,\"state\":\"Connected\","
                 "\"mapped_grants\":4,\"queues\":[{\"guest_tx_packets\":7,"
                 "\"guest_tx_drop_port\":3},{\"guest_tx_packets\":8}]},"
                 "{\"name\":\"a\\\"b\\\\c\\n\",\"domid\":2,\"devid\":1,\"state\":\"Closed\","
                 "\"queues\":[{}]}]");
}

static void assert_line(const char *text, const char *line)
{
    g_autofree char *whole = g_strconcat("\n", line, "\n", NULL);

    if (!strstr(text, whole)) {
        g_test_message("%s", text);
        g_error("there is no line %s", line);
    }
}

/* How often `part` stands in `text`. */
static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;

    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        found++;
    }
    return found;
}

static void test_openmetrics(void)
{
    g_autoptr(JsonArray) vifs = two_vifs();
    g_autofree char *text = metrics_format(vifs, XN_METRICS_OPENMETRICS);

    assert_line(text, "# TYPE qnetback_guest_tx_packets counter");
    assert_line(text, "# UNIT qnetback_guest_tx_packets packets");
    assert_line(
        text,
        "qnetback_guest_tx_packets_total{vif=\"vif1.0\",domid=\"1\",devid=\"0\",queue=\"0\"} 7");
    assert_line(
        text,
        "qnetback_guest_tx_packets_total{vif=\"vif1.0\",domid=\"1\",devid=\"0\",queue=\"1\"} 8");
    assert_line(text, "qnetback_guest_tx_drop_total{vif=\"vif1.0\",domid=\"1\",devid=\"0\","
                      "queue=\"0\",reason=\"port\"} 3");
    assert_line(text, "qnetback_connected{vif=\"vif1.0\",domid=\"1\",devid=\"0\"} 1");
    assert_line(text, "qnetback_mapped_grants{vif=\"vif1.0\",domid=\"1\",devid=\"0\"} 4");
    assert_line(text, "qnetback_connected{vif=\"a\\\"b\\\\c\\n\",domid=\"2\",devid=\"1\"} 0");
    g_assert_true(g_str_has_suffix(text, "\n# EOF\n"));
}

static void test_prometheus(void)
{
    g_autoptr(JsonArray) vifs = two_vifs();
    g_autofree char *text = metrics_format(vifs, XN_METRICS_PROMETHEUS);

    assert_line(text, "# TYPE qnetback_guest_tx_packets_total counter");
    assert_line(text, "# TYPE qnetback_connected gauge");
    g_assert_null(strstr(text, "# UNIT"));
    g_assert_null(strstr(text, "# EOF"));
}

/* Each metric is described once, before its samples; each counter of each queue is there once. */
static void test_complete(void)
{
    g_autoptr(JsonArray) vifs = two_vifs();
    g_autofree char *text = metrics_format(vifs, XN_METRICS_OPENMETRICS);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *current = g_strdup("");
    unsigned samples = 0;

    for (char **line = lines; *line; line++) {
        if (g_str_has_prefix(*line, "# TYPE ")) {
            g_auto(GStrv) words = g_strsplit(*line, " ", 4);
            g_autofree char *type = g_strdup_printf("# TYPE %s ", words[2]);

            g_free(current);
            current = g_strdup(words[2]);
            g_assert_cmpuint(count(text, type), ==, 1);
        } else if ((*line)[0] != '\0' && (*line)[0] != '#') {
            g_assert_true(g_str_has_prefix(*line, current));
            samples++;
        }
    }
    g_assert_cmpuint(samples, ==, 3 * counters_queue_table_length + 2 * 2);
}

static void test_no_vifs(void)
{
    g_autoptr(JsonArray) vifs = parse("[]");
    g_autofree char *text = metrics_format(vifs, XN_METRICS_OPENMETRICS);

    assert_line(text, "# TYPE qnetback_guest_rx_drop counter");
    g_assert_null(strstr(text, "{"));
}

/* A reason is the end of its counter's name: else two metrics would be one, or one two. */
static void test_names(void)
{
    for (size_t i = 0; i < counters_queue_table_length; i++) {
        const struct XnCounterInfo *info = &counters_queue_table[i];
        g_autofree char *name = metrics_name(info);

        if (info->reason) {
            g_assert_true(strcmp(name, "qnetback_guest_tx_drop") == 0 ||
                          strcmp(name, "qnetback_guest_rx_drop") == 0);
            g_assert_true(g_str_has_suffix(info->name, info->reason));
        } else {
            g_assert_null(strstr(info->name, "_drop_"));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/metrics/openmetrics", test_openmetrics);
    g_test_add_func("/metrics/prometheus", test_prometheus);
    g_test_add_func("/metrics/complete", test_complete);
    g_test_add_func("/metrics/no-vifs", test_no_vifs);
    g_test_add_func("/metrics/names", test_names);
    return g_test_run();
}
