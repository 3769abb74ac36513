/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctrl-script.c - messages for the control ring, and what must come back, as text */
#include "ctrl-script.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS_MAX 640
#define LIST_ENTRIES (XN_PAGE_SIZE / sizeof(struct xen_netif_gref))

/* One step, cut into numbers: before and after "=". */
struct XnCtrlStep {
    const char *text;
    int text_length;
    char copy[4096];
    char *words[WORDS_MAX]; /* the first is the step's name */
    unsigned int count;
    char *expected[WORDS_MAX];
    unsigned int expected_count;
    bool expects;
};

struct XnCtrlRun {
    struct XnFrontend *frontend;
    struct XnCtrlResults *results;
    struct XnFailure *failure;
    struct XnCtrlStep step;
    struct xen_netif_ctrl_response response; /* of the step's last message */
    uint32_t values[LIST_ENTRIES + 2]; /* numbers of the step */
    uint32_t flags[LIST_ENTRIES + 2];
    unsigned int values_count;
    unsigned int entries; /* of the list of static grants that was sent */
};

static const uint8_t blank[XN_PAGE_SIZE];
static const char *const status_name[] = {"ok", "unsupported", "invalid", "overflow"};

bool ctrl_call(struct XnFrontend *frontend, struct xen_netif_ctrl_request request,
               struct xen_netif_ctrl_response *response, struct XnFailure *failure)
{
    uint16_t id = ctrl_queue(&frontend->ctrl, &request);

    frontend_push_ctrl(frontend);
    if (!frontend_await_ctrl(frontend, response, failure)) {
        return false;
    }
    if (response->id != id || response->type != request.type) {
        return fail(failure, "control ring: id %u type %u came back as id %u type %u", id,
                    request.type, response->id, response->type);
    }
    if (response->status == XEN_NETIF_CTRL_STATUS_SUCCESS) {
        /* All pages but the page are blank. */
        hash_apply(&frontend->hash, &request,
                   request.data[0] == frontend->ctrl.page_ref ? frontend->ctrl.page : blank);
    }
    return true;
}

static void note(char *text, size_t size, uint32_t number)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%u", used ? "," : "", number);
}

static bool send(struct XnCtrlRun *run, uint16_t type, uint32_t a, uint32_t b, uint32_t c)
{
    struct xen_netif_ctrl_request request = {.type = type, .data = {a, b, c}};

    if (!ctrl_call(run->frontend, request, &run->response, run->failure)) {
        return false;
    }
    note(run->results->statuses, sizeof(run->results->statuses), run->response.status);
    note(run->results->data, sizeof(run->results->data), run->response.data);
    return true;
}

/* --- reading a step --- */

static bool cut_step(struct XnCtrlRun *run, const char *begin, size_t length)
{
    struct XnCtrlStep *step = &run->step;
    char *rest = step->copy;

    if (length >= sizeof(step->copy)) {
        return fail(run->failure, "a step of the control script is too long");
    }
    memcpy(step->copy, begin, length);
    step->copy[length] = 0;
    step->text = begin;
    step->text_length = length < 80 ? length : 80;
    step->count = step->expected_count = 0;
    step->expects = false;
    for (char *word; (word = strsep(&rest, " \t\n"));) {
        if (!word[0]) {
            continue;
        }
        if (strcmp(word, "=") == 0) {
            step->expects = true;
        } else if (step->count == WORDS_MAX || step->expected_count == WORDS_MAX) {
            return fail(run->failure, "a step of the control script has too many words");
        } else if (step->expects) {
            step->expected[step->expected_count++] = word;
        } else {
            step->words[step->count++] = word;
        }
    }
    return true;
}

static bool parse_plain(const char *text, uint32_t *number)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 0);

    *number = value;
    return text[0] >= '0' && text[0] <= '9' && !*end && value <= UINT32_MAX;
}

static bool parse_number(struct XnCtrlRun *run, const char *text, uint32_t *number)
{
    struct XnCtrl *ctrl = &run->frontend->ctrl;
    uint32_t index;

    if (strcmp(text, "page") == 0) {
        *number = ctrl->page_ref;
        return true;
    }
    if ((text[0] == 'g' || text[0] == 'r') && parse_plain(text + 1, &index)) {
        return ctrl_spare_ref(ctrl, index, text[0] == 'r', number, run->failure);
    }
    return parse_plain(text, number) ||
           fail(run->failure, "'%s' is no number in a control script", text);
}

static bool add_value(struct XnCtrlRun *run, const char *text, uint32_t flags)
{
    if (run->values_count == sizeof(run->values) / sizeof(*run->values)) {
        return fail(run->failure, "a step of the control script has too many numbers");
    }
    run->flags[run->values_count] = flags;
    return parse_number(run, text, &run->values[run->values_count++]);
}

/* "N", "N*COUNT", "gN-gM", each with ":FLAGS". */
static bool add_values(struct XnCtrlRun *run, char *word)
{
    char *flags_text = strchr(word, ':');
    char *repeat = strchr(word, '*');
    char *range = strchr(word, '-');
    uint32_t flags = 0;
    uint32_t count = 1;
    uint32_t first = 0;
    char name[16];

    if (flags_text) {
        *flags_text++ = 0;
        if (strcmp(flags_text, "ro") == 0) {
            flags = XEN_NETIF_CTRLF_GREF_readonly;
        } else if (!parse_plain(flags_text, &flags)) {
            return fail(run->failure, "'%s' are no flags", flags_text);
        }
    }
    if (repeat) {
        *repeat++ = 0;
        if (!parse_plain(repeat, &count)) {
            return fail(run->failure, "'%s' is no number of times", repeat);
        }
    }
    if (range) {
        *range++ = 0;
        if (!parse_plain(word + 1, &first) || range[0] != word[0] ||
            !parse_plain(range + 1, &count) || count < first) {
            return fail(run->failure, "'%s-%s' is no range", word, range);
        }
        count = count - first + 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (range) {
            snprintf(name, sizeof(name), "%c%u", word[0], first + i);
        }
        if (!add_value(run, range ? name : word, flags)) {
            return false;
        }
    }
    return true;
}

static bool read_values(struct XnCtrlRun *run, unsigned int from)
{
    run->values_count = 0;
    for (unsigned int i = from; i < run->step.count; i++) {
        if (!add_values(run, run->step.words[i])) {
            return false;
        }
    }
    return true;
}

static bool want_values(struct XnCtrlRun *run, unsigned int least, unsigned int most)
{
    return read_values(run, 1) && ((run->values_count >= least && run->values_count <= most) ||
                                   fail(run->failure, "control step '%s' takes %u to %u numbers",
                                        run->step.words[0], least, most));
}

static void fill_page(struct XnCtrlRun *run, const uint32_t *words, unsigned int count)
{
    memset(run->frontend->ctrl.page, 0, XN_PAGE_SIZE);
    memcpy(run->frontend->ctrl.page, words, count * sizeof(*words));
}

/* --- the steps --- */

static bool step_raw(struct XnCtrlRun *run, uint16_t unused)
{
    (void)unused;
    if (!want_values(run, 1, 4)) {
        return false;
    }
    for (unsigned int i = run->values_count; i < 4; i++) {
        run->values[i] = 0;
    }
    return send(run, run->values[0], run->values[1], run->values[2], run->values[3]);
}

/* A message with one number, or none. */
static bool step_number(struct XnCtrlRun *run, uint16_t type)
{
    run->values[0] = 0;
    return want_values(run, 0, 1) && send(run, type, run->values_count ? run->values[0] : 0, 0, 0);
}

static bool step_algorithm(struct XnCtrlRun *run, uint16_t type)
{
    const char *word = run->step.count == 2 ? run->step.words[1] : "";

    if (strcmp(word, "none") == 0) {
        return send(run, type, XEN_NETIF_CTRL_HASH_ALGORITHM_NONE, 0, 0);
    }
    if (strcmp(word, "toeplitz") == 0) {
        return send(run, type, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ, 0, 0);
    }
    return step_number(run, type);
}

static bool send_key(struct XnCtrlRun *run, const uint8_t *key, unsigned int length)
{
    memset(run->frontend->ctrl.page, 0, XN_PAGE_SIZE);
    memcpy(run->frontend->ctrl.page, key, length);
    return send(run, XEN_NETIF_CTRL_TYPE_SET_HASH_KEY, run->frontend->ctrl.page_ref, length, 0);
}

static bool step_key(struct XnCtrlRun *run, uint16_t unused)
{
    const char *word = run->step.count == 2 ? run->step.words[1] : "";
    size_t length = strlen(word) / 2;
    uint8_t key[256] = {0};

    (void)unused;
    if (strcmp(word, "default") == 0) {
        return send_key(run, xn_hash_default_key, sizeof(xn_hash_default_key));
    }
    if (strcmp(word, "empty") == 0) {
        return send_key(run, key, 0);
    }
    if (!length || length > sizeof(key) || strlen(word) % 2) {
        return fail(run->failure, "'%s' is no key", word);
    }
    for (size_t i = 0; i < length; i++) {
        if (sscanf(word + 2 * i, "%2hhx", &key[i]) != 1) {
            return fail(run->failure, "'%s' is no key", word);
        }
    }
    return send_key(run, key, length);
}

static bool send_spread(struct XnCtrlRun *run)
{
    uint32_t count = run->frontend->hash.mapping_size;
    uint32_t mapping[XN_HASH_MAPPING_MAX] = {0};

    for (uint32_t i = 0; i < count; i++) {
        mapping[i] = i % run->frontend->queues_count;
    }
    fill_page(run, mapping, count);
    return send(run, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING, run->frontend->ctrl.page_ref, count, 0);
}

static bool step_mapping(struct XnCtrlRun *run, uint16_t type)
{
    if (run->step.count == 2 && strcmp(run->step.words[1], "spread") == 0) {
        return send_spread(run);
    }
    if (!want_values(run, 1, LIST_ENTRIES + 1)) {
        return false;
    }
    fill_page(run, run->values + 1, run->values_count - 1);
    return send(run, type, run->frontend->ctrl.page_ref, run->values_count - 1, run->values[0]);
}

static bool step_grefs(struct XnCtrlRun *run, uint16_t type)
{
    struct xen_netif_gref *list = (void *)run->frontend->ctrl.page;

    if (!want_values(run, 1, LIST_ENTRIES + 1)) {
        return false;
    }
    run->entries = run->values_count - 1;
    memset(list, 0, XN_PAGE_SIZE);
    for (unsigned int i = 0; i < run->entries; i++) {
        /* The status is the backend's to write. */
        list[i] = (struct xen_netif_gref){run->values[1 + i], run->flags[1 + i], 0xffff};
    }
    return send(run, type, run->values[0], run->frontend->ctrl.page_ref, run->entries);
}

static bool step_page(struct XnCtrlRun *run, uint16_t unused)
{
    (void)unused;
    if (!want_values(run, 0, LIST_ENTRIES)) {
        return false;
    }
    fill_page(run, run->values, run->values_count);
    return true;
}

static bool step_windows(struct XnCtrlRun *run, uint16_t unused)
{
    (void)unused;
    return send(run, XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM, XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ,
                0, 0) &&
           send(run, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE, XN_HASH_MAPPING_MAX, 0, 0) &&
           send_spread(run) && send_key(run, xn_hash_default_key, sizeof(xn_hash_default_key)) &&
           send(run, XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS,
                XEN_NETIF_CTRL_HASH_TYPE_IPV4 | XEN_NETIF_CTRL_HASH_TYPE_IPV4_TCP |
                    XEN_NETIF_CTRL_HASH_TYPE_IPV6 | XEN_NETIF_CTRL_HASH_TYPE_IPV6_TCP,
                0, 0);
}

/* Messages that change nothing, @batch at a time, each batch answered before the next goes. */
static bool send_many(struct XnCtrlRun *run, uint32_t count, uint32_t batch)
{
    struct xen_netif_ctrl_request request = {.type = XEN_NETIF_CTRL_TYPE_GET_HASH_MAPPING_SIZE};
    struct XnCtrl *ctrl = &run->frontend->ctrl;

    while (count || ctrl_unanswered(ctrl)) {
        for (uint32_t i = 0; i < batch && count && ctrl_room(ctrl); i++, count--) {
            ctrl_queue(ctrl, &request);
        }
        frontend_push_ctrl(run->frontend);
        do {
            if (!frontend_await_ctrl(run->frontend, &run->response, run->failure)) {
                return false;
            }
            if (run->response.type != request.type ||
                run->response.status != XEN_NETIF_CTRL_STATUS_SUCCESS) {
                return fail(run->failure, "one of many messages was answered with status %u",
                            run->response.status);
            }
        } while (batch > 1 && ctrl_unanswered(ctrl));
    }
    return !ctrl_violations(&ctrl->counters) ||
           fail(run->failure, "the control ring's responses break the protocol");
}

static bool step_burst(struct XnCtrlRun *run, uint16_t unused)
{
    (void)unused;
    return want_values(run, 1, 1) && send_many(run, run->values[0], XN_CTRL_SLOTS);
}

/* As fast as there is room: a new message for each response. */
static bool step_flood(struct XnCtrlRun *run, uint16_t unused)
{
    (void)unused;
    return want_values(run, 1, 1) && send_many(run, XN_CTRL_SLOTS, XN_CTRL_SLOTS) &&
           send_many(run, run->values[0], 1);
}

static const struct {
    const char *name;
    bool (*act)(struct XnCtrlRun *run, uint16_t type);
    uint16_t type;
} steps[] = {
    {"algorithm", step_algorithm, XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM},
    {"get-flags", step_number, XEN_NETIF_CTRL_TYPE_GET_HASH_FLAGS},
    {"flags", step_number, XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS},
    {"key", step_key, 0},
    {"get-mapping-size", step_number, XEN_NETIF_CTRL_TYPE_GET_HASH_MAPPING_SIZE},
    {"mapping-size", step_number, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE},
    {"mapping", step_mapping, XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING},
    {"get-gref-size", step_number, XEN_NETIF_CTRL_TYPE_GET_GREF_MAPPING_SIZE},
    {"add-gref", step_grefs, XEN_NETIF_CTRL_TYPE_ADD_GREF_MAPPING},
    {"del-gref", step_grefs, XEN_NETIF_CTRL_TYPE_DEL_GREF_MAPPING},
    {"raw", step_raw, 0},
    {"page", step_page, 0},
    {"windows", step_windows, 0},
    {"burst", step_burst, 0},
    {"flood", step_flood, 0},
};

/* --- what is expected --- */

static bool check_entries(struct XnCtrlRun *run)
{
    const struct xen_netif_gref *list = (const void *)run->frontend->ctrl.page;
    uint32_t wanted;

    for (unsigned int i = 2; i < run->step.expected_count; i++) {
        if (i - 2 >= run->entries || !parse_plain(run->step.expected[i], &wanted)) {
            return fail(run->failure, "control step '%s': no such entry or number",
                        run->step.words[0]);
        }
        if (list[i - 2].status != wanted) {
            return fail(run->failure, "control step '%.*s': status of entry %u is %u, expected %u",
                        run->step.text_length, run->step.text, i - 2, list[i - 2].status, wanted);
        }
    }
    return true;
}

static bool check(struct XnCtrlRun *run)
{
    const struct XnCtrlStep *step = &run->step;
    uint32_t status = 0;
    uint32_t data;

    if (!step->expects) {
        return true;
    }
    while (status < 4 &&
           (!step->expected_count || strcmp(step->expected[0], status_name[status]) != 0)) {
        status++;
    }
    if (status == 4) {
        return fail(run->failure, "control step '%.*s': no such status", step->text_length,
                    step->text);
    }
    if (run->response.status != status) {
        return fail(run->failure, "control step '%.*s': status is %u (%s), expected %s",
                    step->text_length, step->text, run->response.status,
                    run->response.status < 4 ? status_name[run->response.status] : "unknown",
                    status_name[status]);
    }
    if (step->expected_count < 2) {
        return true;
    }
    if (!parse_plain(step->expected[1], &data) || data != run->response.data) {
        return fail(run->failure, "control step '%.*s': data is %u, expected %s", step->text_length,
                    step->text, run->response.data, step->expected[1]);
    }
    return check_entries(run);
}

static bool run_step(struct XnCtrlRun *run)
{
    for (unsigned int i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        if (strcmp(steps[i].name, run->step.words[0]) == 0) {
            run->entries = 0;
            return steps[i].act(run, steps[i].type) && check(run);
        }
    }
    return fail(run->failure, "'%s' is no step of a control script", run->step.words[0]);
}

bool ctrl_script_run(struct XnFrontend *frontend, const char *script, struct XnCtrlResults *results,
                     struct XnFailure *failure)
{
    struct XnCtrlRun *run = calloc(1, sizeof(*run));
    bool good = run != NULL;

    if (!run) {
        return fail(failure, "out of memory");
    }
    run->frontend = frontend;
    run->results = results;
    run->failure = failure;
    while (good && *script) {
        size_t length = strcspn(script, ";");

        while (length && strchr(" \t\n", *script)) {
            script++;
            length--;
        }
        good = cut_step(run, script, length) && (!run->step.count || run_step(run));
        script += length + (script[length] == ';');
    }
    free(run);
    return good;
}
