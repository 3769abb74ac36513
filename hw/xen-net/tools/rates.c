/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates.c - what vifs do in a second, from their counters at two moments
 */
#include "tools/rates.h"

#include <string.h>

#include "base/counters.h"
#include "tools/verb.h"

const char *const rates_order_names[XN_RATES_ORDERS] = {
    [XN_RATES_BY_NAME] = "name",
    [XN_RATES_BY_GUEST_TX] = "guest_tx",
    [XN_RATES_BY_GUEST_RX] = "guest_rx",
    [XN_RATES_BY_DROPS] = "drops",
};

static JsonObject *rates_find(JsonArray *vifs, const char *name)
{
    for (guint i = 0; vifs && i < json_array_get_length(vifs); i++) {
        JsonObject *vif = json_array_get_object_element(vifs, i);

        if (strcmp(verb_text(vif, "name"), name) == 0) {
            return vif;
        }
    }
    return NULL;
}

static double rates_drops(JsonObject *queue)
{
    double drops = 0;

    for (size_t i = 0; i < counters_queue_table_length; i++) {
        if (counters_queue_table[i].reason) {
            drops += (double)verb_number(queue, counters_queue_table[i].name);
        }
    }
    return drops;
}

/* Adds one queue's counters, with this weight. */
static void rates_add(struct XnRates *rates, JsonObject *queue, double weight)
{
    rates->guest_tx_packets += weight * (double)verb_number(queue, "guest_tx_packets");
    rates->guest_tx_bytes += weight * (double)verb_number(queue, "guest_tx_bytes");
    rates->guest_rx_packets += weight * (double)verb_number(queue, "guest_rx_packets");
    rates->guest_rx_bytes += weight * (double)verb_number(queue, "guest_rx_bytes");
    rates->drops += weight * rates_drops(queue);
    rates->events += weight * (double)verb_number(queue, "evtchn_events");
}

static bool rates_is_used(JsonObject *queue)
{
    return verb_number(queue, "guest_tx_packets") > 0 ||
           verb_number(queue, "guest_rx_packets") > 0 || verb_number(queue, "evtchn_events") > 0;
}

/* A counter that has shrunk belongs to a vif, or a daemon, that is new. */
static void rates_clamp(struct XnRates *rates)
{
    double *values[] = {&rates->guest_tx_packets, &rates->guest_tx_bytes, &rates->guest_rx_packets,
                        &rates->guest_rx_bytes,   &rates->drops,          &rates->events};

    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        *values[i] = MAX(*values[i], 0);
    }
}

static void rates_add_queue(struct XnRatesRow *row, JsonObject *earlier, JsonObject *later,
                            guint index, double seconds)
{
    JsonArray *now = verb_array(later, "queues");
    JsonArray *then = earlier ? verb_array(earlier, "queues") : NULL;

    if (then && index < json_array_get_length(then) && seconds > 0) {
        rates_add(&row->rates, json_array_get_object_element(now, index), 1 / seconds);
        rates_add(&row->rates, json_array_get_object_element(then, index), -1 / seconds);
    }
}

static struct XnRatesRow rates_row(JsonObject *vif, int queue)
{
    struct XnRatesRow row = {.queue = queue};

    g_strlcpy(row.name, verb_text(vif, "name"), sizeof(row.name));
    g_strlcpy(row.state, verb_flag(vif, "stalled") ? "Stalled" : verb_text(vif, "state"),
              sizeof(row.state));
    return row;
}

static void rates_add_vif(GArray *rows, JsonObject *earlier, JsonObject *later, double seconds,
                          bool by_queue)
{
    JsonArray *queues = verb_array(later, "queues");
    struct XnRatesRow whole = rates_row(later, -1);

    for (guint i = 0; i < json_array_get_length(queues); i++) {
        struct XnRatesRow row = rates_row(later, (int)i);

        if (!by_queue) {
            rates_add_queue(&whole, earlier, later, i, seconds);
        } else if (rates_is_used(json_array_get_object_element(queues, i))) {
            rates_add_queue(&row, earlier, later, i, seconds);
            rates_clamp(&row.rates);
            g_array_append_val(rows, row);
        }
    }
    if (!by_queue) {
        rates_clamp(&whole.rates);
        g_array_append_val(rows, whole);
    }
}

static double rates_weight(const struct XnRatesRow *row, enum XnRatesOrder order)
{
    switch (order) {
    case XN_RATES_BY_GUEST_TX:
        return row->rates.guest_tx_bytes;
    case XN_RATES_BY_GUEST_RX:
        return row->rates.guest_rx_bytes;
    case XN_RATES_BY_DROPS:
        return row->rates.drops;
    default:
        return 0;
    }
}

/* (GLib's sort keeps the order of equals.) */
static gint rates_compare(gconstpointer a, gconstpointer b, gpointer opaque)
{
    enum XnRatesOrder order = *(const enum XnRatesOrder *)opaque;
    double x = rates_weight(a, order);
    double y = rates_weight(b, order);

    return x > y ? -1 : x < y;
}

GArray *rates_between(JsonArray *before, JsonArray *after, double seconds, bool by_queue,
                      enum XnRatesOrder order)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct XnRatesRow));

    for (guint i = 0; i < json_array_get_length(after); i++) {
        JsonObject *vif = json_array_get_object_element(after, i);

        rates_add_vif(rows, rates_find(before, verb_text(vif, "name")), vif, seconds, by_queue);
    }
    g_array_sort_with_data(rows, rates_compare, &order);
    return rows;
}

char *rates_format(double number)
{
    static const char units[] = " kMGT";
    unsigned unit = 0;

    while (number >= 999.5 && unit < sizeof(units) - 2) {
        number /= 1000;
        unit++;
    }
    if (unit == 0) {
        return g_strdup_printf("%.0f", number);
    }
    return g_strdup_printf(number < 9.995   ? "%.2f%c"
                           : number < 99.95 ? "%.1f%c"
                                            : "%.0f%c",
                           number, units[unit]);
}
