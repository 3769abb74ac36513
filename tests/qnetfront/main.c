/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - qnetfront, the guest's side of a Xen network device in user space */
#include "ctrl-script.h"
#include "modes.h"

#include <stdio.h>

static const struct XnMode {
    const char *name;
    mode_run *run;
    enum { XN_NEEDS_CONNECTION, XN_NEEDS_FRONTEND, XN_NEEDS_INTERFACE } needs;
} modes[] = {
    {"tap", mode_tap, XN_NEEDS_CONNECTION},
    {"generate", mode_generate, XN_NEEDS_CONNECTION},
    {"sink", mode_sink, XN_NEEDS_CONNECTION},
    {"echo", mode_echo, XN_NEEDS_CONNECTION},
    {"idle", mode_idle, XN_NEEDS_CONNECTION},
    {"hostile", mode_hostile, XN_NEEDS_FRONTEND},
    {"wire-send", mode_wire_send, XN_NEEDS_INTERFACE},
    {"wire-receive", mode_wire_receive, XN_NEEDS_INTERFACE},
};

static const struct XnMode *find_mode(const char *name)
{
    for (unsigned int i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        if (strcmp(modes[i].name, name) == 0) {
            return &modes[i];
        }
    }
    return NULL;
}

/* What is said through the control ring before anything else. */
static enum XnExit run_ctrl(struct XnFrontend *frontend, const struct XnOptions *options,
                            struct XnReport *report, struct XnFailure *failure)
{
    static struct XnCtrlResults results;
    bool good;

    if (!options->ctrl) {
        return XN_EXIT_OK;
    }
    if (!frontend->ctrl.sring) {
        fail(failure, "the backend offers no control ring");
        return XN_EXIT_FAILED;
    }
    memset(&results, 0, sizeof(results));
    good = ctrl_script_run(frontend, options->ctrl, &results, failure);
    report_string(report, "ctrl_statuses", results.statuses);
    report_string(report, "ctrl_data", results.data);
    if (!good) {
        return frontend_alive(frontend) ? XN_EXIT_FAILED : XN_EXIT_BACKEND_CLOSED;
    }
    return XN_EXIT_OK;
}

/* Modes over a connection: everything between connecting and closing in order. */
static enum XnExit run_connected(const struct XnMode *mode, struct XnFrontend *frontend,
                                 const struct XnOptions *options, struct XnReport *report,
                                 struct XnFailure *failure)
{
    struct XnFailure closing = {""};
    enum XnExit result;

    if (!frontend_connect(frontend, failure)) {
        return XN_EXIT_NOT_CONNECTED;
    }
    result = run_ctrl(frontend, options, report, failure);
    if (result == XN_EXIT_OK) {
        result = mode->run(frontend, options, report, failure);
    }
    if (frontend->config.ctrl_ring) {
        report_ctrl(report, frontend);
    }
    if (result == XN_EXIT_OK && ctrl_violations(&frontend->ctrl.counters)) {
        fail(failure, "the control ring's responses break the protocol");
        result = XN_EXIT_FAILED;
    }
    /* After a failure the first reason stands. */
    if (!frontend_disconnect(frontend, &closing) && result == XN_EXIT_OK) {
        *failure = closing;
        result = XN_EXIT_FAILED;
    }
    return result;
}

static enum XnExit run_with_xen(const struct XnMode *mode, const struct XnOptions *options,
                                struct XnReport *report, struct XnFailure *failure)
{
    static struct XnFrontend frontend;
    enum XnExit result = XN_EXIT_NOT_CONNECTED;

    if (frontend_open(&frontend, &options->frontend, failure)) {
        result = mode->needs == XN_NEEDS_CONNECTION
                     ? run_connected(mode, &frontend, options, report, failure)
                     : mode->run(&frontend, options, report, failure);
        report_frontend(report, &frontend);
    }
    frontend_close(&frontend);
    return result;
}

int main(int argc, char **argv)
{
    static struct XnOptions options;
    struct XnFailure failure = {""};
    struct XnReport report;
    const struct XnMode *mode;
    int status;

    if (!options_parse(&options, argc, argv, &status)) {
        return status;
    }
    mode = find_mode(options.mode);
    if (!mode) {
        fprintf(stderr, "qnetfront: there is no mode '%s', see --help\n", options.mode);
        return XN_EXIT_USAGE;
    }
    if (mode->needs == XN_NEEDS_INTERFACE && !options.interface) {
        fprintf(stderr, "qnetfront: mode %s needs --interface\n", mode->name);
        return XN_EXIT_USAGE;
    }
    if (mode->run == mode_hostile && options.attack && strcmp(options.attack, "list") == 0) {
        hostile_list();
        return XN_EXIT_OK;
    }
    /* Only that mode judges the bytes around the data. */
    options.frontend.rx_canary &= mode->run == mode_sink;
    frontend_catch_signals();
    report_begin(&report, options.json);
    report_string(&report, "mode", mode->name);
    if (mode->needs == XN_NEEDS_INTERFACE) {
        status = mode->run(NULL, &options, &report, &failure);
    } else {
        status = run_with_xen(mode, &options, &report, &failure);
    }
    report_string(&report, "failure", failure.text);
    report_number(&report, "status", status);
    report_end(&report);
    if (failure.text[0]) {
        fprintf(stderr, "qnetfront: %s\n", failure.text);
    }
    return status;
}
