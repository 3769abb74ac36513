/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verb-capture.c - qnetctl capture: the frames of one vif, to a file for Wireshark
 *
 * Theory of operation
 *
 * Every frame of a vif passes its interface in the host, so libpcap captures there, and the daemon
 * does nothing for it. What the interface receives is guest_tx, what it sends is guest_rx.
 *
 * The file is pcap with nanoseconds, since libpcap writes no pcapng.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/verb.h"

#define CAPTURE_SNAPLEN_MAX 262144
#define CAPTURE_POLL_MS 100
#define CAPTURE_PROGRESS_US 200000
#define CAPTURE_FILE_HEADER 24u
#define CAPTURE_FRAME_HEADER 16u

static char *file;
static char *filter;
static char *direction;
static int snaplen = CAPTURE_SNAPLEN_MAX;
static int frames_max;
static int seconds_max;
static gint64 bytes_max;

static const GOptionEntry options[] = {
    {"write", 'w', 0, G_OPTION_ARG_FILENAME, &file, "To this file (default: - for standard output)",
     "FILE"},
    {"filter", 'f', 0, G_OPTION_ARG_STRING, &filter, "Only these frames, see pcap-filter(7)",
     "EXPRESSION"},
    {"direction", 0, 0, G_OPTION_ARG_STRING, &direction, "Only guest_tx, or only guest_rx",
     "DIRECTION"},
    {"snaplen", 0, 0, G_OPTION_ARG_INT, &snaplen, "No more than so many bytes of each", "BYTES"},
    {"frames", 'n', 0, G_OPTION_ARG_INT, &frames_max, "End after so many frames", "N"},
    {"seconds", 0, 0, G_OPTION_ARG_INT, &seconds_max, "End after that time", "N"},
    {"size", 0, 0, G_OPTION_ARG_INT64, &bytes_max, "End before the file is larger", "BYTES"},
    G_OPTION_ENTRY_NULL,
};

struct XnCapture {
    const char *vif;
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    FILE *output;
    gint64 end_us;
    gint64 progress_us;
    guint64 frames;
    guint64 bytes;
    /* It is over: a limit was reached, or somebody wants it. */
    bool over;
};

static volatile sig_atomic_t interrupted;

static void capture_interrupt(int signal_number G_GNUC_UNUSED)
{
    interrupted = 1;
}

static void capture_catch_signals(void)
{
    struct sigaction action = {.sa_handler = capture_interrupt};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool capture_usage(GError **error, const char *message)
{
    g_set_error_literal(error, XN_EXIT_ERROR, XN_EXIT_USAGE, message);
    return false;
}

static bool capture_check_options(GError **error)
{
    if (snaplen < 1 || snaplen > CAPTURE_SNAPLEN_MAX || frames_max < 0 || seconds_max < 0 ||
        bytes_max < 0) {
        return capture_usage(error, "--snaplen must be 1..262144, the limits 1 or more");
    }
    if (direction && strcmp(direction, "guest_tx") != 0 && strcmp(direction, "guest_rx") != 0) {
        return capture_usage(error, "--direction must be guest_tx or guest_rx");
    }
    if (!file && isatty(STDOUT_FILENO)) {
        return capture_usage(error,
                             "this is no text for a terminal: name a file with --write, or a pipe");
    }
    return true;
}

/* The name of the vif's interface, to be freed with g_free(). */
static char *capture_find_interface(const struct XnVerbCall *call, GError **error)
{
    g_autoptr(JsonArray) vifs = verb_query_vifs(call, call->arguments[0], error);
    JsonObject *vif;
    JsonNode *settings;

    if (!vifs || json_array_get_length(vifs) != 1) {
        return NULL;
    }
    vif = json_array_get_object_element(vifs, 0);
    if (strcmp(verb_text(vif, "interface"), "-") == 0) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED,
                    "%s has no interface in this network namespace", call->arguments[0]);
        return NULL;
    }
    settings = json_object_get_member(vif, "settings");
    if (settings && JSON_NODE_HOLDS_OBJECT(settings) &&
        verb_flag(json_node_get_object(settings), "direct")) {
        fprintf(stderr,
                "qnetctl: frames that are copied directly between guests are not seen here; "
                "'qnetctl set %s direct off' sends them through the bridge\n",
                call->arguments[0]);
    }
    return g_strdup(verb_text(vif, "interface"));
}

static bool capture_pcap_error(struct XnCapture *capture, enum XnExit status, const char *what,
                               GError **error)
{
    g_set_error(error, XN_EXIT_ERROR, status, "cannot %s: %s", what, pcap_geterr(capture->pcap));
    return false;
}

static bool capture_set_filter(struct XnCapture *capture, GError **error)
{
    struct bpf_program program;

    if (!filter) {
        return true;
    }
    if (pcap_compile(capture->pcap, &program, filter, 1, PCAP_NETMASK_UNKNOWN) < 0) {
        return capture_pcap_error(capture, XN_EXIT_USAGE, "understand the filter", error);
    }
    if (pcap_setfilter(capture->pcap, &program) < 0) {
        pcap_freecode(&program);
        return capture_pcap_error(capture, XN_EXIT_FAILED, "set the filter", error);
    }
    pcap_freecode(&program);
    return true;
}

static bool capture_open_interface(struct XnCapture *capture, const char *interface, GError **error)
{
    char message[PCAP_ERRBUF_SIZE] = "";
    int status;

    capture->pcap = pcap_create(interface, message);
    if (!capture->pcap) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED, "cannot capture on %s: %s", interface,
                    message);
        return false;
    }
    pcap_set_snaplen(capture->pcap, snaplen);
    pcap_set_timeout(capture->pcap, CAPTURE_POLL_MS);
    pcap_set_tstamp_precision(capture->pcap, PCAP_TSTAMP_PRECISION_NANO);
    status = pcap_activate(capture->pcap);
    if (status == PCAP_ERROR_PERM_DENIED) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_DENIED,
                    "no permission to capture on %s; run as root", interface);
        return false;
    }
    if (status < 0) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED, "cannot capture on %s: %s", interface,
                    pcap_statustostr(status));
        return false;
    }
    if (pcap_setnonblock(capture->pcap, 1, message) < 0) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_FAILED, "cannot capture on %s: %s", interface,
                    message);
        return false;
    }
    if (direction &&
        pcap_setdirection(capture->pcap,
                          strcmp(direction, "guest_tx") == 0 ? PCAP_D_IN : PCAP_D_OUT) < 0) {
        return capture_pcap_error(capture, XN_EXIT_FAILED, "tell directions apart", error);
    }
    return capture_set_filter(capture, error);
}

static bool capture_open_file(struct XnCapture *capture, GError **error)
{
    bool is_stdout = !file || strcmp(file, "-") == 0;

    capture->output = is_stdout ? fdopen(dup(STDOUT_FILENO), "w") : fopen(file, "we");
    if (!capture->output) {
        g_set_error(error, XN_EXIT_ERROR, XN_EXIT_OUTPUT, "cannot write %s: %s",
                    is_stdout ? "to standard output" : file, g_strerror(errno));
        return false;
    }
    capture->dumper = pcap_dump_fopen(capture->pcap, capture->output);
    if (!capture->dumper) {
        fclose(capture->output);
        return capture_pcap_error(capture, XN_EXIT_OUTPUT, "write the file", error);
    }
    capture->bytes = CAPTURE_FILE_HEADER;
    return true;
}

static void capture_frame(u_char *opaque, const struct pcap_pkthdr *header, const u_char *bytes)
{
    struct XnCapture *capture = (struct XnCapture *)(void *)opaque;
    guint64 size = CAPTURE_FRAME_HEADER + header->caplen;

    if (capture->over || (bytes_max > 0 && capture->bytes + size > (guint64)bytes_max)) {
        capture->over = true;
        return;
    }
    pcap_dump((u_char *)capture->dumper, header, bytes);
    capture->frames++;
    capture->bytes += size;
    capture->over = frames_max > 0 && capture->frames >= (guint64)frames_max;
}

static unsigned capture_drops(const struct XnCapture *capture)
{
    struct pcap_stat stats = {0};

    return pcap_stats(capture->pcap, &stats) == 0 ? stats.ps_drop : 0;
}

/* On a terminal, from time to time. */
static void capture_progress(struct XnCapture *capture, bool last)
{
    gint64 now = g_get_monotonic_time();

    if (!isatty(STDERR_FILENO) || (!last && now < capture->progress_us)) {
        return;
    }
    capture->progress_us = now + CAPTURE_PROGRESS_US;
    fprintf(stderr, "\r%s: %" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " bytes, %u lost ",
            capture->vif, capture->frames, capture->bytes, capture_drops(capture));
    if (last) {
        fputc('\n', stderr);
    }
}

/* The reader of a pipe that goes away ends the capture like any other limit. */
static bool capture_flush(struct XnCapture *capture, GError **error)
{
    errno = 0;
    if (pcap_dump_flush(capture->dumper) == 0 && !ferror(capture->output)) {
        return true;
    }
    g_set_error(
        error, XN_EXIT_ERROR, XN_EXIT_OUTPUT, "%s%s",
        errno == EPIPE ? "" : "cannot write the file: ", errno == EPIPE ? "" : g_strerror(errno));
    return false;
}

static bool capture_loop(struct XnCapture *capture, GError **error)
{
    bool sound = capture_flush(capture, error);

    while (sound && !capture->over && !interrupted) {
        struct pollfd readable = {.fd = pcap_get_selectable_fd(capture->pcap), .events = POLLIN};
        int count;

        poll(&readable, 1, CAPTURE_POLL_MS);
        count = pcap_dispatch(capture->pcap, -1, capture_frame, (u_char *)capture);

        sound = capture_flush(capture, error);
        if (sound && count < 0 && count != PCAP_ERROR_BREAK && !interrupted) {
            sound = capture_pcap_error(capture, XN_EXIT_FAILED, "go on capturing", error);
        }
        if (capture->end_us != 0 && g_get_monotonic_time() >= capture->end_us) {
            capture->over = true;
        }
        capture_progress(capture, false);
    }
    return sound;
}

/* Beside the frames, if they do not go there. */
static void capture_report(const struct XnVerbCall *call, struct XnCapture *capture)
{
    FILE *report = file && strcmp(file, "-") != 0 && call->json ? stdout : stderr;

    capture_progress(capture, true);
    if (call->json) {
        fprintf(report,
                "{\"frames\":%" G_GUINT64_FORMAT ",\"bytes\":%" G_GUINT64_FORMAT ",\"lost\":%u}\n",
                capture->frames, capture->bytes, capture_drops(capture));
    } else if (!isatty(STDERR_FILENO)) {
        fprintf(report, "%s: %" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " bytes, %u lost\n",
                capture->vif, capture->frames, capture->bytes, capture_drops(capture));
    }
}

static bool run(const struct XnVerbCall *call, GError **error)
{
    struct XnCapture capture = {.vif = call->arguments[0]};
    g_autofree char *interface = NULL;
    bool done = false;

    if (!capture_check_options(error)) {
        return false;
    }
    interface = capture_find_interface(call, error);
    if (!interface) {
        return false;
    }
    if (capture_open_interface(&capture, interface, error) && capture_open_file(&capture, error)) {
        capture_catch_signals();
        if (seconds_max > 0) {
            capture.end_us = g_get_monotonic_time() + seconds_max * G_USEC_PER_SEC;
        }
        done = capture_loop(&capture, error);
        capture_report(call, &capture);
        pcap_dump_close(capture.dumper);
    }
    if (capture.pcap) {
        pcap_close(capture.pcap);
    }
    return done;
}

const struct XnVerb verb_capture = {
    .name = "capture",
    .synopsis = "VIF",
    .help = "its frames, as a pcap file for Wireshark",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
};
