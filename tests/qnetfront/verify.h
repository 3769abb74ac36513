/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.h - the receiving end's judgement over deterministic frames */
#ifndef QNETFRONT_VERIFY_H
#define QNETFRONT_VERIFY_H

#include "frame.h"

/* Sequence numbers this far behind the newest are still told apart as late or duplicate. */
#define XN_VERIFY_WINDOW 65536

enum XnVerdict {
    XN_VERDICT_GOOD,
    XN_VERDICT_FOREIGN, /* not one of ours: neighbour discovery and the like */
    XN_VERDICT_CORRUPT, /* a byte differs */
    XN_VERDICT_CHECKSUM, /* only the checksum field is wrong for what the flags say of it */
    XN_VERDICT_META, /* the bytes are right, flags or GSO data are not what was sent */
    XN_VERDICTS
};

extern const char *const xn_verdict_name[XN_VERDICTS];

/* Whether a blank checksum has to arrive blank. */
enum XnExpectCsum {
    XN_EXPECT_CSUM_ANY, /* as sent, or completed on the way */
    XN_EXPECT_CSUM_SAME, /* as sent */
    XN_EXPECT_CSUM_COMPLETE, /* complete always */
};

/* Counters and expectations of one receiving end. One thread. */
struct XnVerify {
    uint32_t seed;
    enum XnExpectCsum expect_csum;
    uint64_t verdicts[XN_VERDICTS];
    uint64_t bytes; /* of good frames */
    uint64_t gaps; /* sequence numbers skipped and not (yet) seen */
    uint64_t duplicates;
    uint64_t late; /* arrived after a higher sequence number, with queues: of the same flow */
    uint64_t csum_blank; /* good frames that arrived with a blank checksum */
    uint64_t csum_complete; /* good frames with a checksum field that arrived complete */
    uint64_t gso; /* good frames that arrived as super-frames */
    uint32_t lengths; /* different frame lengths among the good */
    char reason[200]; /* the first failure, in words */
    /* Private. */
    bool started;
    bool queues;
    uint32_t next;
    uint32_t flow_next[XN_FRAME_KINDS][XN_FRAME_FLOWS_MAX];
    uint8_t seen[XN_VERIFY_WINDOW / 8];
    uint8_t length_seen[(XN_FRAME_MAX + 8) / 8];
    uint8_t scratch[XN_FRAME_MAX + 1];
};

/* With @queues, frames on their way through several, only those of one kind and flow keep their
 * order. */
void verify_init(struct XnVerify *verify, uint32_t seed, enum XnExpectCsum expect, bool queues);

/* Judges one frame as received. @meta is what came with it. */
enum XnVerdict verify_frame(struct XnVerify *verify, const uint8_t *frame, size_t length,
                            const struct XnFrameMeta *meta);

/* Frames that were ours and wrong. Gaps and duplicates are not among them. */
uint64_t verify_bad(const struct XnVerify *verify);

#endif
