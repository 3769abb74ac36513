/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.c - the receiving end's judgement over deterministic frames */
#include "verify.h"

#include <stdio.h>

const char *const xn_verdict_name[XN_VERDICTS] = {
    [XN_VERDICT_GOOD] = "good",        [XN_VERDICT_FOREIGN] = "foreign",
    [XN_VERDICT_CORRUPT] = "corrupt",  [XN_VERDICT_CHECKSUM] = "checksum-wrong",
    [XN_VERDICT_META] = "flags-wrong",
};

void verify_init(struct XnVerify *verify, uint32_t seed, enum XnExpectCsum expect, bool queues)
{
    memset(verify, 0, sizeof(*verify));
    verify->queues = queues;
    verify->seed = seed;
    verify->expect_csum = expect;
}

static bool bit_test_and_set(uint8_t *bits, uint32_t index)
{
    uint8_t mask = 1u << index % 8;
    bool was = bits[index / 8] & mask;

    bits[index / 8] |= mask;
    return was;
}

static void bit_clear(uint8_t *bits, uint32_t index)
{
    bits[index / 8] &= ~(1u << index % 8);
}

static void start_sequence(struct XnVerify *verify, uint32_t sequence)
{
    verify->started = true;
    verify->next = sequence;
    for (unsigned int kind = 0; kind < XN_FRAME_KINDS; kind++) {
        for (unsigned int flow = 0; flow < XN_FRAME_FLOWS_MAX; flow++) {
            verify->flow_next[kind][flow] = sequence;
        }
    }
    memset(verify->seen, 0xff, sizeof(verify->seen));
}

static bool is_ahead(uint32_t sequence, uint32_t next)
{
    return sequence - next < UINT32_MAX / 2;
}

/* Keeps, for the last XN_VERIFY_WINDOW sequence numbers, which were seen. */
static void track_sequence(struct XnVerify *verify, const struct XnFrameSpec *spec)
{
    uint32_t *flow_next = &verify->flow_next[spec->kind][spec->flow];
    uint32_t sequence = spec->sequence;
    bool flow_late;

    if (!verify->started) {
        /* A receiver may be started while the sender runs: the first frame is the beginning. From
         * several queues the first frame need not come first. */
        start_sequence(verify, verify->queues ? 0 : sequence);
    }
    flow_late = !is_ahead(sequence, *flow_next);
    if (!flow_late) {
        *flow_next = sequence + 1;
    }
    if (is_ahead(sequence, verify->next)) {
        uint32_t ahead = sequence - verify->next;

        for (uint32_t i = 0; i < ahead && i < XN_VERIFY_WINDOW; i++) {
            bit_clear(verify->seen, (verify->next + i) % XN_VERIFY_WINDOW);
        }
        verify->gaps += ahead;
        bit_test_and_set(verify->seen, sequence % XN_VERIFY_WINDOW);
        verify->next = sequence + 1;
        return;
    }
    if (verify->next - sequence > XN_VERIFY_WINDOW ||
        !bit_test_and_set(verify->seen, sequence % XN_VERIFY_WINDOW)) {
        verify->late += flow_late || !verify->queues;
        verify->gaps -= verify->gaps > 0;
    } else {
        verify->duplicates++;
    }
}

static enum XnVerdict judge_bytes(struct XnVerify *verify, const uint8_t *frame,
                                  const struct XnFrameSpec *spec, bool blank, char *reason,
                                  size_t reason_size)
{
    unsigned int field = frame_checksum_offset(spec->kind, spec->vlans);
    uint32_t at = 0;

    frame_build(spec, verify->scratch);
    if (blank != spec->csum_blank) {
        frame_set_checksum(spec, verify->scratch, blank);
    }
    if (memcmp(frame, verify->scratch, spec->length) == 0) {
        return XN_VERDICT_GOOD;
    }
    while (frame[at] == verify->scratch[at]) {
        at++;
    }
    if (field && at >= field && at < field + 2 &&
        memcmp(frame + field + 2, verify->scratch + field + 2, spec->length - field - 2) == 0) {
        snprintf(reason, reason_size, "checksum field is %02x%02x, expected %02x%02x (%s)",
                 frame[field], frame[field + 1], verify->scratch[field], verify->scratch[field + 1],
                 blank ? "pseudo-header sum" : "complete");
        return XN_VERDICT_CHECKSUM;
    }
    snprintf(reason, reason_size, "byte %u is %02x, expected %02x", at, frame[at],
             verify->scratch[at]);
    return XN_VERDICT_CORRUPT;
}

static enum XnVerdict judge_meta(const struct XnVerify *verify, const struct XnFrameSpec *spec,
                                 const struct XnFrameMeta *meta, char *reason, size_t reason_size)
{
    struct XnFrameMeta sent = frame_meta(spec);

    if (meta->gso_size != sent.gso_size || meta->gso_type != sent.gso_type) {
        snprintf(reason, reason_size, "GSO type %u size %u, sent as type %u size %u",
                 meta->gso_type, meta->gso_size, sent.gso_type, sent.gso_size);
        return XN_VERDICT_META;
    }
    if (meta->gso_size && !meta->csum_blank) {
        snprintf(reason, reason_size, "GSO without a blank checksum");
        return XN_VERDICT_META;
    }
    if (meta->csum_blank && spec->kind == XN_FRAME_RAW) {
        snprintf(reason, reason_size, "blank checksum in a frame without one");
        return XN_VERDICT_META;
    }
    if (meta->csum_blank && verify->expect_csum == XN_EXPECT_CSUM_COMPLETE) {
        snprintf(reason, reason_size, "blank checksum where only complete ones are accepted");
        return XN_VERDICT_META;
    }
    if (meta->csum_blank != sent.csum_blank &&
        (meta->csum_blank || verify->expect_csum == XN_EXPECT_CSUM_SAME)) {
        snprintf(reason, reason_size, "checksum arrived %s, was sent %s",
                 meta->csum_blank ? "blank" : "complete", sent.csum_blank ? "blank" : "complete");
        return XN_VERDICT_META;
    }
    return XN_VERDICT_GOOD;
}

enum XnVerdict verify_frame(struct XnVerify *verify, const uint8_t *frame, size_t length,
                            const struct XnFrameMeta *meta)
{
    struct XnFrameSpec spec;
    enum XnVerdict verdict;
    bool has_label;
    char reason[120] = "";

    if (!frame_identify(frame, length, verify->seed, &spec)) {
        verify->verdicts[XN_VERDICT_FOREIGN]++;
        return XN_VERDICT_FOREIGN;
    }
    has_label = length >= frame_header_length(spec.kind, spec.vlans) + XN_FRAME_LABEL;
    if (!has_label) {
        /* Such a frame does not say how it was sent. */
        spec.csum_blank = meta->csum_blank;
    }
    verdict = judge_bytes(verify, frame, &spec, meta->csum_blank, reason, sizeof(reason));
    if (verdict == XN_VERDICT_GOOD) {
        verdict = judge_meta(verify, &spec, meta, reason, sizeof(reason));
    }
    verify->verdicts[verdict]++;
    if (verdict == XN_VERDICT_GOOD || verdict == XN_VERDICT_META) {
        track_sequence(verify, &spec);
    }
    if (verdict != XN_VERDICT_GOOD) {
        if (!verify->reason[0]) {
            snprintf(verify->reason, sizeof(verify->reason),
                     "%s frame of %zu bytes, sequence %u: %s", xn_frame_kind_name[spec.kind],
                     length, spec.sequence, reason);
        }
        return verdict;
    }
    verify->bytes += length;
    verify->gso += meta->gso_size > 0;
    if (spec.kind != XN_FRAME_RAW) {
        verify->csum_blank += meta->csum_blank;
        verify->csum_complete += !meta->csum_blank;
    }
    verify->lengths += !bit_test_and_set(verify->length_seen, length);
    return verdict;
}

uint64_t verify_bad(const struct XnVerify *verify)
{
    return verify->verdicts[XN_VERDICT_CORRUPT] + verify->verdicts[XN_VERDICT_CHECKSUM] +
           verify->verdicts[XN_VERDICT_META];
}
