/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - which frame comes next */
#ifndef QNETFRONT_SOURCE_H
#define QNETFRONT_SOURCE_H

#include "options.h"

/* Where a sender stands. */
struct XnSource {
    const struct XnOptions *options;
    uint64_t limit; /* frames in all, UINT64_MAX: no bound */
    uint64_t sequence; /* of the next frame */
    uint32_t length; /* of the next frame */
};

void source_init(struct XnSource *source, const struct XnOptions *options);

/* Describes the next frame without moving on. @features may be NULL (everything allowed). False at
 * the end. */
bool source_peek(const struct XnSource *source, const struct XnBackendFeatures *features,
                 struct XnFrameSpec *spec);
void source_advance(struct XnSource *source);

#endif
