/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - which frame comes next */
#include "source.h"

void source_init(struct XnSource *source, const struct XnOptions *options)
{
    memset(source, 0, sizeof(*source));
    source->options = options;
    source->length = options->size_min;
    if (options->count) {
        source->limit = options->count;
    } else if (options->seconds) {
        source->limit = UINT64_MAX;
    } else {
        source->limit = (options->size_max - options->size_min) / options->size_step + 1;
    }
}

/* Blank checksums only where the backend takes them; without a backend, anywhere. */
static bool may_blank(enum XnFrameKind kind, const struct XnBackendFeatures *features)
{
    if (!features) {
        return true;
    }
    return kind == XN_FRAME_UDP4 || kind == XN_FRAME_TCP4 ? features->csum_ipv4
                                                          : features->csum_ipv6;
}

static bool may_segment(enum XnFrameKind kind, const struct XnBackendFeatures *features)
{
    if (!features) {
        return true;
    }
    return kind == XN_FRAME_TCP4 ? features->gso_tcpv4 : features->gso_tcpv6;
}

/* For some seconds a tap keeps a flow in the queue from which it last had a frame of it, and then
 * lets it go: so the two directions share no flow, if there are not too many. */
static unsigned int flow_of(uint64_t turn, unsigned int flows, bool to_guest)
{
    return to_guest ? XN_FRAME_FLOWS_MAX - 1 - turn % flows : turn % flows;
}

bool source_peek(const struct XnSource *source, const struct XnBackendFeatures *features,
                 struct XnFrameSpec *spec)
{
    const struct XnOptions *options = source->options;
    uint64_t turn = source->sequence / options->kinds_count;

    if (source->sequence >= source->limit) {
        return false;
    }
    *spec = (struct XnFrameSpec){
        .seed = options->seed,
        .sequence = source->sequence,
        .length = source->length,
        .kind = options->kinds[source->sequence % options->kinds_count],
        .flow = flow_of(turn, options->flows, !features),
        .vlans = options->vlans,
    };
    memcpy(spec->target, options->target, sizeof(spec->target));
    memcpy(spec->source, options->source, sizeof(spec->source));
    if (may_segment(spec->kind, features)) {
        spec->gso_size = options->gso;
    }
    if (may_blank(spec->kind, features)) {
        spec->csum_blank = options->csum == XN_CSUM_BLANK ||
                           (options->csum == XN_CSUM_MIXED && turn / options->flows % 2);
    }
    frame_spec_settle(spec);
    return true;
}

void source_advance(struct XnSource *source)
{
    source->sequence++;
    source->length += source->options->size_step;
    if (source->length > source->options->size_max) {
        source->length = source->options->size_min;
    }
}
