/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - the result of a run: one line of JSON, or one line per figure for people */
#include "report.h"

#include <inttypes.h>

void report_begin(struct XnReport *report, bool json)
{
    report->stream = stdout;
    report->json = json;
    report->any = false;
    if (json) {
        fputc('{', report->stream);
    }
}

static void field_name(struct XnReport *report, const char *name)
{
    if (report->json) {
        fprintf(report->stream, "%s\"%s\":", report->any ? "," : "", name);
    } else {
        fprintf(report->stream, "%-28s ", name);
    }
    report->any = true;
}

static void field_end(struct XnReport *report)
{
    if (!report->json) {
        fputc('\n', report->stream);
    }
}

void report_number(struct XnReport *report, const char *name, uint64_t value)
{
    field_name(report, name);
    fprintf(report->stream, "%" PRIu64, value);
    field_end(report);
}

void report_signed(struct XnReport *report, const char *name, int64_t value)
{
    field_name(report, name);
    fprintf(report->stream, "%" PRId64, value);
    field_end(report);
}

static void put_json_string(FILE *stream, const char *value)
{
    fputc('"', stream);
    for (; *value; value++) {
        unsigned char c = *value;

        if (c == '"' || c == '\\') {
            fprintf(stream, "\\%c", c);
        } else if (c < 0x20 || c > 0x7e) {
            fprintf(stream, "\\u%04x", c);
        } else {
            fputc(c, stream);
        }
    }
    fputc('"', stream);
}

void report_string(struct XnReport *report, const char *name, const char *value)
{
    if (!value[0]) {
        return;
    }
    field_name(report, name);
    if (report->json) {
        put_json_string(report->stream, value);
    } else {
        fputs(value, report->stream);
    }
    field_end(report);
}

void report_end(struct XnReport *report)
{
    if (report->json) {
        fputs("}\n", report->stream);
    }
    fflush(report->stream);
}

static void report_queue_number(struct XnReport *report, unsigned int queue, const char *name,
                                uint64_t value)
{
    char full[64];

    snprintf(full, sizeof(full), "queue%u_%s", queue, name);
    report_number(report, full, value);
}

void report_guest_tx(struct XnReport *report, const struct XnFrontend *frontend)
{
    struct XnGuestTxCounters counters = frontend_guest_tx_counters(frontend);

    report_number(report, "guest_tx_packets", counters.packets);
    report_number(report, "guest_tx_bytes", counters.bytes);
    report_number(report, "guest_tx_slots", counters.slots);
    report_number(report, "guest_tx_extras", counters.extras);
    report_number(report, "guest_tx_answered", counters.answered);
    report_number(report, "guest_tx_packets_bad", counters.packets_bad);
    report_number(report, "guest_tx_okay", counters.okay);
    report_number(report, "guest_tx_error", counters.error);
    report_number(report, "guest_tx_dropped", counters.dropped);
    report_number(report, "guest_tx_null", counters.null);
    report_number(report, "guest_tx_strange", counters.strange);
    report_number(report, "guest_tx_wrong_id", counters.wrong_id);
    report_number(report, "guest_tx_wrong_null", counters.wrong_null);
    report_number(report, "guest_tx_dirty", counters.dirty);
    report_number(report, "guest_tx_pushes", counters.pushes);
    report_number(report, "guest_tx_notifies", counters.notifies);
    for (unsigned int i = 0; frontend->queues_count > 1 && i < frontend->queues_count; i++) {
        report_queue_number(report, i, "guest_tx_packets",
                            frontend->queues[i].guest_tx.counters.packets);
    }
}

void report_guest_rx(struct XnReport *report, const struct XnFrontend *frontend)
{
    struct XnGuestRxCounters counters = frontend_guest_rx_counters(frontend);

    report_number(report, "guest_rx_packets", counters.packets);
    report_number(report, "guest_rx_bytes", counters.bytes);
    report_number(report, "guest_rx_slots", counters.slots);
    report_number(report, "guest_rx_extras", counters.extras);
    report_number(report, "guest_rx_slots_most", counters.slots_most);
    report_number(report, "guest_rx_length_most", counters.length_most);
    report_number(report, "guest_rx_slots_excess", counters.slots_excess);
    report_number(report, "guest_rx_slots_unfilled", counters.slots_unfilled);
    report_number(report, "guest_rx_errors", counters.errors);
    report_number(report, "guest_rx_wrong_id", counters.wrong_id);
    report_number(report, "guest_rx_wrong_flags", counters.wrong_flags);
    report_number(report, "guest_rx_wrong_size", counters.wrong_size);
    report_number(report, "guest_rx_wrong_extra", counters.wrong_extra);
    report_number(report, "guest_rx_wrong_headroom", counters.wrong_headroom);
    report_number(report, "guest_rx_canary", counters.canary);
    report_number(report, "guest_rx_partial", counters.partial);
    report_number(report, "guest_rx_pushes", counters.pushes);
    report_number(report, "guest_rx_notifies", counters.notifies);
    for (unsigned int i = 0; frontend->queues_count > 1 && i < frontend->queues_count; i++) {
        report_queue_number(report, i, "guest_rx_packets",
                            frontend->queues[i].guest_rx.counters.packets);
    }
}

void report_ctrl(struct XnReport *report, const struct XnFrontend *frontend,
                 const struct XnCtrlWork *work)
{
    const struct XnCtrlCounters *counters = &frontend->ctrl.counters;

    report_string(report, "ctrl_statuses", work->results.statuses);
    report_string(report, "ctrl_data", work->results.data);
    report_number(report, "static_grants_added", work->grants.added);
    report_number(report, "static_grants_deleted", work->grants.deleted);
    report_number(report, "static_grants_left_out", work->grants.left_out);
    report_number(report, "ctrl_requests", counters->requests);
    report_number(report, "ctrl_responses", counters->responses);
    report_number(report, "ctrl_wrong_id", counters->wrong_id);
    report_number(report, "ctrl_wrong_type", counters->wrong_type);
    report_number(report, "ctrl_dirty", counters->dirty);
    report_number(report, "ctrl_notifies", counters->notifies);
}

void report_verify(struct XnReport *report, const struct XnVerify *verify)
{
    report_number(report, "frames_good", verify->verdicts[XN_VERDICT_GOOD]);
    report_number(report, "frames_foreign", verify->verdicts[XN_VERDICT_FOREIGN]);
    report_number(report, "frames_corrupt", verify->verdicts[XN_VERDICT_CORRUPT]);
    report_number(report, "frames_checksum_wrong", verify->verdicts[XN_VERDICT_CHECKSUM]);
    report_number(report, "frames_flags_wrong", verify->verdicts[XN_VERDICT_META]);
    report_number(report, "frames_bytes", verify->bytes);
    report_number(report, "frames_lengths", verify->lengths);
    report_number(report, "frames_lost", verify->gaps);
    report_number(report, "frames_duplicate", verify->duplicates);
    report_number(report, "frames_late", verify->late);
    report_number(report, "frames_csum_blank", verify->csum_blank);
    report_number(report, "frames_csum_complete", verify->csum_complete);
    report_number(report, "frames_gso", verify->gso);
    report_string(report, "frames_reason", verify->reason);
}

void report_frontend(struct XnReport *report, const struct XnFrontend *frontend)
{
    report_number(report, "vif", frontend->config.vif);
    report_string(report, "personality", frontend->config.personality->name);
    report_number(report, "queues", frontend->queues_count);
    report_number(report, "backend_state", frontend->backend_state);
    report_number(report, "events", frontend->events);
    report_number(report, "sleeps", frontend->sleeps);
}
