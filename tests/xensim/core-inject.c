/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-inject.c - per-process call counters, failures on request, and simulated cost.
 */
#include "core-inject.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core-entry.h"
#include "core.h"

static const char *const call_names[SIM_CALL_COUNT] = {
#define SIM_CALL_STRING(name) #name,
    SIM_CALLS(SIM_CALL_STRING)
#undef SIM_CALL_STRING
};

/* Busy-waits in nanoseconds, set once by inject_init. */
static long call_cost;
static long segment_cost;

const char *inject_call_name(enum SimCall call)
{
    return call_names[call];
}

bool inject_parse_error(const char *text, int *error)
{
    char *end;
    long value;
    int i;

    for (i = 1; i < 134; i++) {
        const char *name = strerrorname_np(i);

        if (name && strcmp(name, text) == 0) {
            *error = i;
            return true;
        }
    }
    value = strtol(text, &end, 10);
    if (end == text || *end || value < -255 || value > 255) {
        return false;
    }
    *error = (int)value;
    return true;
}

static bool parse_call(const char *name, uint32_t *call)
{
    uint32_t i;

    for (i = 0; i < SIM_CALL_COUNT; i++) {
        if (strcmp(name, call_names[i]) == 0) {
            *call = i;
            return true;
        }
    }
    return false;
}

/* "3", "3+", "+3", "+3+" */
static bool parse_range(const char *text, uint64_t already, struct SimRule *rule)
{
    bool relative = *text == '+';
    char *end;

    if (relative) {
        text++;
    }
    if (*text < '0' || *text > '9') {
        return false;
    }
    rule->first = strtoull(text, &end, 10) + (relative ? already : 0);
    rule->last = rule->first;
    if (*end == '+') {
        rule->last = UINT64_MAX;
        end++;
    }
    return *end == '\0' && rule->first > 0;
}

static bool parse_rule(char *item, const struct SimTally *tally, struct SimRule *rule)
{
    char *save = NULL;
    const char *name = strtok_r(item, ":", &save);
    const char *range = strtok_r(NULL, ":", &save);
    const char *error = strtok_r(NULL, ":", &save);

    if (!name || !range || strtok_r(NULL, ":", &save) || !parse_call(name, &rule->call) ||
        !parse_range(range, tally->calls[rule->call], rule)) {
        return false;
    }
    rule->error = rule->call == SIM_CALL_segment ? GNTST_general_error : EINVAL;
    return !error || inject_parse_error(error, &rule->error);
}

bool inject_set_rules(struct SimTally *tally, const char *specification, const char **bad)
{
    static _Thread_local char bad_item[128];
    char *copy = strdup(specification);
    char *save = NULL;
    char *item;
    uint32_t count = 0;

    *bad = bad_item;
    tally->rule_count = 0;
    for (item = copy ? strtok_r(copy, ",", &save) : NULL; item; item = strtok_r(NULL, ",", &save)) {
        snprintf(bad_item, sizeof(bad_item), "%s", item);
        if (count == SIM_MAX_RULES || !parse_rule(item, tally, &tally->rule[count])) {
            free(copy);
            return false;
        }
        count++;
    }
    free(copy);
    tally->rule_count = count;
    return true;
}

static long parse_cost(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long value;

    if (!text || !*text) {
        return 0;
    }
    value = strtol(text, &end, 10);
    if (*end || value < 0 || value > 1000000000) {
        fprintf(stderr, "xensim: %s=%s is not a number of nanoseconds (0 to 1000000000)\n",
                variable, text);
        exit(1);
    }
    return value;
}

void inject_init(struct SimTally *tally)
{
    const char *rules = getenv("XENSIM_FAIL");
    const char *bad;

    call_cost = parse_cost("XENSIM_CALL_NS");
    segment_cost = parse_cost("XENSIM_SEG_NS");
    if (rules && !inject_set_rules(tally, rules, &bad)) {
        fprintf(stderr, "xensim: XENSIM_FAIL: '%s' is not CALL:N[+][:ERROR] with a known CALL\n",
                bad);
        exit(1);
    }
}

static void spend(long nanoseconds)
{
    struct timespec start;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < nanoseconds);
}

static bool count_call(enum SimCall call, int *error)
{
    struct SimTally *tally = process_tally();
    uint64_t number = atomic_fetch_add_explicit(&tally->calls[call], 1, memory_order_relaxed) + 1;
    uint32_t rules = tally->rule_count;
    uint32_t i;

    for (i = 0; i < rules; i++) {
        const struct SimRule *rule = &tally->rule[i];

        if (rule->call == SIM_CALL_entry) {
            entry_watch();
        }
        if (rule->call == call && number >= rule->first && number <= rule->last) {
            tally->failed[call]++;
            *error = rule->error;
            return true;
        }
    }
    return false;
}

bool inject_call(enum SimCall call)
{
    int error;

    if (call_cost) {
        spend(call_cost);
    }
    if (!count_call(call, &error)) {
        return false;
    }
    errno = error;
    return true;
}

bool inject_segment(int *status)
{
    if (segment_cost) {
        spend(segment_cost);
    }
    return count_call(SIM_CALL_segment, status);
}
