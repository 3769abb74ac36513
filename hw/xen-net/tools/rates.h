/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates.h - what vifs do in a second, from their counters at two moments
 *
 * Pure.
 */
#ifndef XN_TOOLS_RATES_H
#define XN_TOOLS_RATES_H

#include <json-glib/json-glib.h>
#include <stdbool.h>

/* All a second; 0 for a vif that was not there before. */
struct XnRates {
    double guest_tx_packets;
    double guest_tx_bytes;
    double guest_rx_packets;
    double guest_rx_bytes;
    /* Frames that were dropped, both ways. */
    double drops;
    double events;
};

struct XnRatesRow {
    char name[32];
    char state[24];
    /* -1: all of them together. */
    int queue;
    struct XnRates rates;
};

enum XnRatesOrder {
    XN_RATES_BY_NAME,
    XN_RATES_BY_GUEST_TX,
    XN_RATES_BY_GUEST_RX,
    XN_RATES_BY_DROPS,
    XN_RATES_ORDERS,
};

/* As --sort has it. */
extern const char *const rates_order_names[XN_RATES_ORDERS];

/*
 * A row for each vif of `after`, or with `by_queue` for each queue that has ever moved anything,
 * the busiest first, or as the daemon gave them. `before` (NULL: there is none) was `seconds`
 * earlier. An array of struct XnRatesRow, to be freed with g_array_unref().
 */
GArray *rates_between(JsonArray *before, JsonArray *after, double seconds, bool by_queue,
                      enum XnRatesOrder order);

/* "12.3M": a number in four or five characters; to be freed with g_free(). */
char *rates_format(double number);

#endif
