/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - qnetfront, the guest's side of a Xen network device in user space */
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
    {"reconnect", mode_reconnect, XN_NEEDS_FRONTEND},
    {"renew", mode_renew, XN_NEEDS_FRONTEND},
    {"flip", mode_flip, XN_NEEDS_FRONTEND},
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

/* Modes over a connection: everything between connecting and closing in order. */
static enum XnExit run_connected(const struct XnMode *mode, struct XnFrontend *frontend,
                                 const struct XnOptions *options, struct XnReport *report,
                                 struct XnFailure *failure)
{
    /* As the frontend that refers to it. */
    static struct XnCtrlWork work;
    struct XnFailure closing = {""};
    enum XnExit result;

    work = options->ctrl;
    if (!frontend_connect(frontend, failure)) {
        return XN_EXIT_NOT_CONNECTED;
    }
    frontend->ctrl_work = &work;
    if (ctrl_work_begin(&work, frontend, failure) &&
        wishes_run(&options->wishes, frontend, failure)) {
        result = mode->run(frontend, options, report, failure);
    } else {
        result = frontend_alive(frontend) ? XN_EXIT_FAILED : XN_EXIT_BACKEND_CLOSED;
    }
    if (result == XN_EXIT_OK && !ctrl_work_end(&work, frontend, failure)) {
        result = XN_EXIT_FAILED;
    }
    if (frontend->config.ctrl_ring) {
        report_ctrl(report, frontend, &work);
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
