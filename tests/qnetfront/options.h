/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - the command line */
#ifndef QNETFRONT_OPTIONS_H
#define QNETFRONT_OPTIONS_H

#include "ctrl-work.h"
#include "frame.h"
#include "frontend.h"
#include "layout.h"
#include "verify.h"
#include "wishes.h"

/* Exit statuses, as --help tells them. */
enum XnExit {
    XN_EXIT_OK = 0,
    XN_EXIT_FAILED = 1,
    XN_EXIT_USAGE = 2,
    XN_EXIT_NOT_CONNECTED = 3,
    XN_EXIT_BACKEND_CLOSED = 4,
};

enum XnCsumChoice { XN_CSUM_MIXED, XN_CSUM_BLANK, XN_CSUM_COMPLETE };

struct XnOptions {
    struct XnFrontendConfig frontend;
    const char *mode;
    const char *tap;
    const char *interface;
    const char *progress;
    const char *attack;
    struct XnCtrlWork ctrl;
    struct XnWishes wishes;
    uint64_t count; /* frames, 0: once through the sizes, or no bound with --seconds */
    unsigned int seconds; /* 0: no bound */
    unsigned int size_min, size_max, size_step;
    enum XnFrameKind kinds[XN_FRAME_KINDS];
    unsigned int kinds_count;
    unsigned int flows; /* 1..XN_FRAME_FLOWS_MAX */
    enum XnCsumChoice csum;
    unsigned int gso; /* segment size, 0: none */
    unsigned int vlans;
    uint8_t target[6], source[6];
    struct XnLayout layout;
    uint32_t seed;
    unsigned int window;
    unsigned int rate;
    unsigned int spin_us;
    enum XnExpectCsum expect_csum;
    bool allow_loss;
    bool json;
};

/* Parses the command line. On success *@status is untouched and true returned; else the program
 * ends with *@status (help ends with 0). */
bool options_parse(struct XnOptions *options, int argc, char **argv, int *status);

#endif
