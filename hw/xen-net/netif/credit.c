/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credit.c - how much a vif may send or receive: a token bucket
 */
#include "netif/credit.h"

#include <stddef.h>

#define NS_PER_US 1000.0

/*
 * Times here: sixteenths of a nanosecond. Moments wrap around, every 36 years, and only the
 * distance of two of them counts.
 */
#define TIME_PER_NS 16u
/* The largest time span, 4 years: no rate is slower than that for one frame. */
#define TIME_MAX ((int64_t)1 << 61)

static uint64_t moment_from_ns(uint64_t ns)
{
    return ns * TIME_PER_NS;
}

/* How long `bytes` take at the rate. */
static int64_t time_of(double time_per_byte, uint64_t bytes)
{
    double time = time_per_byte * (double)bytes + 0.5;

    return time < (double)TIME_MAX ? (int64_t)time : TIME_MAX;
}

/* Digits, at least one; NULL when there are none, or they need more than 64 bits. */
static const char *parse_number(const char *text, uint64_t *ret_number)
{
    uint64_t number = 0;
    unsigned digit;

    if (*text < '0' || *text > '9') {
        return NULL;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        digit = (unsigned)(*text - '0');
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, digit, &number)) {
            return NULL;
        }
    }
    *ret_number = number;
    return text;
}

bool credit_parse(const char *text, struct XnCreditRate *ret_rate, const char **ret_reason)
{
    struct XnCreditRate rate = {0};
    const char *rest = parse_number(text, &rate.bytes);
    const char *reason = NULL;

    if (rest && *rest == ',') {
        rest = parse_number(rest + 1, &rate.interval_us);
    } else {
        rest = NULL;
    }
    if (!rest || *rest != '\0') {
        reason = "is not \"<bytes>,<microseconds>\"";
    } else if (rate.bytes == 0) {
        reason = "would allow no bytes at all";
    } else if (rate.interval_us == 0) {
        reason = "has an interval of no length";
    }
    if (reason) {
        rate = (struct XnCreditRate){0};
    }
    *ret_rate = rate;
    *ret_reason = reason;
    return !reason;
}

void credit_set(struct XnCredit *credit, const struct XnCreditRate *rate, uint64_t now_ns)
{
    uint64_t burst_bytes = rate->bytes > XN_CREDIT_BURST_MIN ? rate->bytes : XN_CREDIT_BURST_MIN;
    double time_per_byte = 0;
    int64_t burst;
    uint64_t empty;

    if (rate->bytes > 0) {
        time_per_byte = (double)rate->interval_us * NS_PER_US * TIME_PER_NS / (double)rate->bytes;
    }
    burst = time_of(time_per_byte, burst_bytes);
    empty = moment_from_ns(now_ns) - (uint64_t)time_of(time_per_byte, rate->bytes);
    __atomic_store_n(&credit->burst, burst, __ATOMIC_RELAXED);
    __atomic_store_n(&credit->empty, empty, __ATOMIC_RELAXED);
    __atomic_store(&credit->time_per_byte, &time_per_byte, __ATOMIC_RELEASE);
}

/* Nothing is taken for longer than a span can be: it counts as much as has to add up. */
static int64_t credit_at(uint64_t now, uint64_t empty, int64_t burst)
{
    int64_t credit = (int64_t)(now - empty);

    return credit > burst || credit < -2 * TIME_MAX ? burst : credit;
}

bool credit_take(struct XnCredit *credit, uint32_t bytes, uint64_t now_ns, uint64_t *ret_ready_ns)
{
    uint64_t now = moment_from_ns(now_ns);
    uint64_t empty = __atomic_load_n(&credit->empty, __ATOMIC_RELAXED);
    uint64_t emptier;
    int64_t burst;
    int64_t cost;
    int64_t needed;
    int64_t there;
    double time_per_byte;

    __atomic_load(&credit->time_per_byte, &time_per_byte, __ATOMIC_ACQUIRE);
    if (time_per_byte <= 0) {
        return true;
    }
    burst = __atomic_load_n(&credit->burst, __ATOMIC_RELAXED);
    cost = time_of(time_per_byte, bytes);
    /* No more can be asked for than ever adds up; the rest is owed. */
    needed = cost < burst ? cost : burst;
    do {
        there = credit_at(now, empty, burst);
        if (there < needed) {
            *ret_ready_ns = now_ns + ((uint64_t)(needed - there) + TIME_PER_NS - 1) / TIME_PER_NS;
            return false;
        }
        emptier = now - (uint64_t)there + (uint64_t)cost;
    } while (!__atomic_compare_exchange_n(&credit->empty, &empty, emptier, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return true;
}
