/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - the command line */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage_text[] =
    "Usage: qnetfront --mode MODE [OPTION]...\n"
    "\n"
    "The guest's side of a Xen network device, in user space. It serves device/vif/N of the "
    "domain\n"
    "it runs in, whose kernel driver must be absent or unbound.\n"
    "\n"
    "Modes:\n"
    "  tap           a tap device on top of the vif, so that this kernel's TCP/IP is the guest\n"
    "  generate      send frames of known content, check every answer\n"
    "  sink          receive frames, check every byte, checksum, flag and slot\n"
    "  echo          send every received frame back with its MAC addresses swapped\n"
    "  idle          connect, discard what comes, until a signal or the backend's closing\n"
    "  reconnect     connect, send a frame and close, --count times; how long each took\n"
    "  renew         while connected, take new rings and say Connected again, --count times\n"
    "  flip          states 1, 4, 5, 6 without waiting for --seconds, then connect\n"
    "  hostile       misbehave as --attack says, report what the backend did\n"
    "  wire-send     no Xen: send the same frames into --interface through a packet socket\n"
    "  wire-receive  no Xen: receive and check them on --interface\n"
    "\n"
    "Which vif, and how to connect:\n"
    "  --vif N                  device number (0)\n"
    "  --wait SECONDS           bound of each wait for the backend or for a receiver (10)\n"
    "  --personality NAME       behave as that guest's frontend: linux, windows, freebsd, netbsd,\n"
    "                           minios or ipxe (plain); options after it win over its habits\n"
    "  --features KEY=VALUE,... frontend keys to write; KEY= leaves one out. By default\n"
    "                           everything the protocol has is offered\n"
    "  --queues N               use N queues, or as many as the backend offers (1)\n"
    "  --event-channels split|single   split where the backend offers it (split)\n"
    "  --rx-slots N             guest_rx buffers to post, 0 to 256 (256)\n"
    "  --multicast LIST         addresses to add to the backend's list before traffic; -MAC "
    "deletes\n"
    "                           one, MAC*N is N in a row, and with a ! behind it the last of them\n"
    "                           must be refused\n"
    "  --reconfigure N,...      bytes of headroom to change to before traffic, one after the "
    "other\n"
    "  --ctrl SCRIPT            send these messages through the control ring before traffic\n"
    "  --ctrl-loop SCRIPT       and these again and again while there is traffic\n"
    "  --static-grants all|guest-rx|guest-tx|half|read-only|none   have the backend keep these\n"
    "                           pages of the rings mapped, until the end (none)\n"
    "  --churn                  take them back and give them again while there is traffic\n"
    "  --no-notify              never send an event\n"
    "  --always-kick            send an event after each batch, asked for or not\n"
    "  --spin MICROSECONDS      look that long for work before sleeping (0)\n"
    "\n"
    "Frames (generate, wire-send):\n"
    "  --size MIN[:MAX[:STEP]]  lengths in order, 14 to 65535 (64)\n"
    "  --count N                frames (once through the sizes)\n"
    "  --seconds N              stop after that time; without --count as many frames as go\n"
    "  --frames KIND,...        raw, udp4, tcp4, udp6, tcp6, in turn (all)\n"
    "  --flows N                different senders' addresses, 1 to 256 (as many as queues)\n"
    "  --csum mixed|blank|complete     leave the checksum to be completed on the way (mixed)\n"
    "  --gso MSS                TCP frames with more payload are super-frames of that segment "
    "size\n"
    "  --vlan N                 802.1Q tags, 0 to 2 (0)\n"
    "  --to MAC, --from MAC     addresses (02:71:00:00:00:02, 02:71:00:00:00:01)\n"
    "  --layout full|header|tiny|random   how generate cuts frames into slots (full)\n"
    "  --slots N                exactly N slots where the length permits, 1 to 19\n"
    "  --empty N                N more slots without data, as far as 18, or --slots, permit\n"
    "  --offset                 data at random offsets in their pages\n"
    "  --window N               frames under way at most, with --progress or on a tap (128)\n"
    "  --rate N                 frames per second at most\n"
    "\n"
    "Checks (sink, wire-receive):\n"
    "  --expect-csum any|same|complete  whether blank checksums must arrive blank (any)\n"
    "  --allow-loss             lost frames are counted, not a failure\n"
    "  --no-canary              do not check the rest of each page\n"
    "\n"
    "Common:\n"
    "  --seed N                 content of the frames, the same at both ends (1)\n"
    "  --progress FILE          made by the receiver, read by the sender: no frame is sent before\n"
    "                           the receiver is ready, or faster than it receives\n"
    "  --tap NAME               name of the tap for mode tap (eth%d)\n"
    "  --interface NAME         network interface for the wire modes\n"
    "  --attack NAME            what mode hostile does; 'list' lists them\n"
    "  --json                   the report as one line of JSON\n"
    "  --verbose                say on stderr what happens\n"
    "  --help                   this text\n"
    "\n"
    "Exit status: 0 all right, 1 a check failed, 2 wrong usage, 3 could not connect in time,\n"
    "4 the backend closed on us.\n";

enum {
    OPT_VIF = 256,
    OPT_MODE,
    OPT_WAIT,
    OPT_PERSONALITY,
    OPT_FEATURES,
    OPT_QUEUES,
    OPT_EVENT_CHANNELS,
    OPT_RX_SLOTS,
    OPT_MULTICAST,
    OPT_RECONFIGURE,
    OPT_CTRL,
    OPT_CTRL_LOOP,
    OPT_STATIC_GRANTS,
    OPT_CHURN,
    OPT_NO_NOTIFY,
    OPT_ALWAYS_KICK,
    OPT_SPIN,
    OPT_SIZE,
    OPT_COUNT,
    OPT_SECONDS,
    OPT_FRAMES,
    OPT_FLOWS,
    OPT_CSUM,
    OPT_GSO,
    OPT_VLAN,
    OPT_TO,
    OPT_FROM,
    OPT_LAYOUT,
    OPT_SLOTS,
    OPT_EMPTY,
    OPT_OFFSET,
    OPT_WINDOW,
    OPT_RATE,
    OPT_EXPECT_CSUM,
    OPT_ALLOW_LOSS,
    OPT_NO_CANARY,
    OPT_SEED,
    OPT_PROGRESS,
    OPT_TAP,
    OPT_INTERFACE,
    OPT_ATTACK,
    OPT_JSON,
    OPT_VERBOSE,
    OPT_HELP,
};

static const struct option long_options[] = {
    {"vif", required_argument, NULL, OPT_VIF},
    {"mode", required_argument, NULL, OPT_MODE},
    {"wait", required_argument, NULL, OPT_WAIT},
    {"personality", required_argument, NULL, OPT_PERSONALITY},
    {"features", required_argument, NULL, OPT_FEATURES},
    {"queues", required_argument, NULL, OPT_QUEUES},
    {"event-channels", required_argument, NULL, OPT_EVENT_CHANNELS},
    {"rx-slots", required_argument, NULL, OPT_RX_SLOTS},
    {"multicast", required_argument, NULL, OPT_MULTICAST},
    {"reconfigure", required_argument, NULL, OPT_RECONFIGURE},
    {"ctrl", required_argument, NULL, OPT_CTRL},
    {"ctrl-loop", required_argument, NULL, OPT_CTRL_LOOP},
    {"static-grants", required_argument, NULL, OPT_STATIC_GRANTS},
    {"churn", no_argument, NULL, OPT_CHURN},
    {"no-notify", no_argument, NULL, OPT_NO_NOTIFY},
    {"always-kick", no_argument, NULL, OPT_ALWAYS_KICK},
    {"spin", required_argument, NULL, OPT_SPIN},
    {"size", required_argument, NULL, OPT_SIZE},
    {"count", required_argument, NULL, OPT_COUNT},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"frames", required_argument, NULL, OPT_FRAMES},
    {"flows", required_argument, NULL, OPT_FLOWS},
    {"csum", required_argument, NULL, OPT_CSUM},
    {"gso", required_argument, NULL, OPT_GSO},
    {"vlan", required_argument, NULL, OPT_VLAN},
    {"to", required_argument, NULL, OPT_TO},
    {"from", required_argument, NULL, OPT_FROM},
    {"layout", required_argument, NULL, OPT_LAYOUT},
    {"slots", required_argument, NULL, OPT_SLOTS},
    {"empty", required_argument, NULL, OPT_EMPTY},
    {"offset", no_argument, NULL, OPT_OFFSET},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"rate", required_argument, NULL, OPT_RATE},
    {"expect-csum", required_argument, NULL, OPT_EXPECT_CSUM},
    {"allow-loss", no_argument, NULL, OPT_ALLOW_LOSS},
    {"no-canary", no_argument, NULL, OPT_NO_CANARY},
    {"seed", required_argument, NULL, OPT_SEED},
    {"progress", required_argument, NULL, OPT_PROGRESS},
    {"tap", required_argument, NULL, OPT_TAP},
    {"interface", required_argument, NULL, OPT_INTERFACE},
    {"attack", required_argument, NULL, OPT_ATTACK},
    {"json", no_argument, NULL, OPT_JSON},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool parse_number(const char *text, unsigned long long min, unsigned long long max,
                         unsigned long long *number)
{
    char *end;

    *number = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && !*end && *number >= min && *number <= max;
}

static bool parse_uint(const char *text, unsigned int min, unsigned int max, unsigned int *value)
{
    unsigned long long number;

    if (!parse_number(text, min, max, &number)) {
        return false;
    }
    *value = number;
    return true;
}

static bool parse_word(const char *text, const char *const *words, unsigned int count,
                       unsigned int *index)
{
    for (*index = 0; *index < count; ++*index) {
        if (strcmp(text, words[*index]) == 0) {
            return true;
        }
    }
    return false;
}

static bool parse_size(const char *text, struct XnOptions *options)
{
    unsigned int *part[] = {&options->size_min, &options->size_max, &options->size_step};
    char copy[64];
    char *rest = copy;
    unsigned int count = 0;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *item; (item = strsep(&rest, ":")); count++) {
        if (count == 3 ||
            !parse_uint(item, count < 2 ? XN_FRAME_MIN : 1, XN_FRAME_MAX, part[count])) {
            return false;
        }
    }
    if (count < 2) {
        options->size_max = options->size_min;
    }
    return options->size_max >= options->size_min;
}

static bool parse_frames(const char *text, struct XnOptions *options)
{
    char copy[128];
    char *rest = copy;
    unsigned int kind;

    snprintf(copy, sizeof(copy), "%s", text);
    options->kinds_count = 0;
    for (char *item; (item = strsep(&rest, ","));) {
        if (options->kinds_count == XN_FRAME_KINDS ||
            !parse_word(item, xn_frame_kind_name, XN_FRAME_KINDS, &kind)) {
            return false;
        }
        options->kinds[options->kinds_count++] = kind;
    }
    return true;
}

static bool parse_mac(const char *text, uint8_t *mac)
{
    char rest;

    return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0], &mac[1], &mac[2], &mac[3],
                  &mac[4], &mac[5], &rest) == 6;
}

static bool parse_features(char *text, struct XnFrontendConfig *config)
{
    for (char *item; (item = strsep(&text, ","));) {
        struct XnFrontendKey *key = &config->keys[config->keys_count];
        char *value = strchr(item, '=');

        if (!value || value == item || config->keys_count == XN_FRONTEND_KEYS_MAX ||
            (size_t)(value - item) >= sizeof(key->name) ||
            strlen(value + 1) >= sizeof(key->value)) {
            return false;
        }
        *value = 0;
        snprintf(key->name, sizeof(key->name), "%s", item);
        snprintf(key->value, sizeof(key->value), "%s", value + 1);
        config->keys_count++;
    }
    return true;
}

static void set_defaults(struct XnOptions *options)
{
    static const uint8_t target[6] = {0x02, 0x71, 0, 0, 0, 2};
    static const uint8_t source[6] = {0x02, 0x71, 0, 0, 0, 1};

    memset(options, 0, sizeof(*options));
    options->frontend.personality = personality_find("plain");
    options->frontend.queues = 1;
    options->frontend.split_evtchn = true;
    options->frontend.rx_buffers = XN_RING_SLOTS;
    options->frontend.rx_canary = true;
    options->frontend.wait_ms = 10000;
    options->tap = "eth%d";
    options->size_min = options->size_max = 64;
    options->size_step = 1;
    for (unsigned int i = 0; i < XN_FRAME_KINDS; i++) {
        options->kinds[options->kinds_count++] = i;
    }
    memcpy(options->target, target, sizeof(target));
    memcpy(options->source, source, sizeof(source));
    options->layout.max = XN_GUEST_TX_SLOTS_MAX;
    options->seed = 1;
    options->window = 128;
}

static bool take_personality(struct XnOptions *options, const struct XnPersonality *personality)
{
    if (!personality) {
        return false;
    }
    options->frontend.personality = personality;
    options->frontend.split_evtchn = !personality->one_channel;
    options->frontend.ctrl_ring = personality->ctrl_ring;
    if (personality->ctrl_ring) {
        options->ctrl.script = "windows";
    }
    if (personality->guest_rx_buffers) {
        options->frontend.rx_buffers = personality->guest_rx_buffers;
    }
    return true;
}

static bool take_option(struct XnOptions *options, int option, char *value)
{
    static const char *const channels[] = {"single", "split"};
    static const char *const csums[] = {"mixed", "blank", "complete"};
    static const char *const expectations[] = {"any", "same", "complete"};
    unsigned long long number;
    unsigned int word;
    bool good = true;

    switch (option) {
    case OPT_VIF:
        return parse_uint(value, 0, 65535, &options->frontend.vif);
    case OPT_MODE:
        options->mode = value;
        return true;
    case OPT_WAIT:
        good = parse_uint(value, 0, 86400, &options->frontend.wait_ms);
        options->frontend.wait_ms *= 1000;
        return good;
    case OPT_PERSONALITY:
        return take_personality(options, personality_find(value));
    case OPT_FEATURES:
        return parse_features(value, &options->frontend);
    case OPT_QUEUES:
        return parse_uint(value, 1, XN_QUEUES_MAX, &options->frontend.queues);
    case OPT_EVENT_CHANNELS:
        good = parse_word(value, channels, 2, &word);
        options->frontend.split_evtchn = word;
        return good;
    case OPT_RX_SLOTS:
        return parse_uint(value, 0, XN_RING_SLOTS, &options->frontend.rx_buffers);
    case OPT_MULTICAST:
        options->wishes.multicast = value;
        return wishes_valid(&options->wishes);
    case OPT_RECONFIGURE:
        options->wishes.reconfigure = value;
        return wishes_valid(&options->wishes);
    case OPT_CTRL:
        options->ctrl.script = value;
        return true;
    case OPT_CTRL_LOOP:
        options->ctrl.loop = value;
        return true;
    case OPT_STATIC_GRANTS:
        good = parse_word(value, xn_static_grants_name, XN_STATIC_GRANTS_CHOICES, &word);
        options->ctrl.static_grants = word;
        return good;
    case OPT_CHURN:
        options->ctrl.churn = true;
        return true;
    case OPT_NO_NOTIFY:
        options->frontend.never_notify = true;
        return true;
    case OPT_ALWAYS_KICK:
        options->frontend.always_notify = true;
        return true;
    case OPT_SPIN:
        return parse_uint(value, 0, 1000000, &options->spin_us);
    case OPT_SIZE:
        return parse_size(value, options);
    case OPT_COUNT:
        good = parse_number(value, 1, UINT32_MAX, &number);
        options->count = number;
        return good;
    case OPT_SECONDS:
        return parse_uint(value, 1, 86400, &options->seconds);
    case OPT_FRAMES:
        return parse_frames(value, options);
    case OPT_FLOWS:
        return parse_uint(value, 1, XN_FRAME_FLOWS_MAX, &options->flows);
    case OPT_CSUM:
        good = parse_word(value, csums, 3, &word);
        options->csum = word;
        return good;
    case OPT_GSO:
        return parse_uint(value, 0, 65535, &options->gso);
    case OPT_VLAN:
        return parse_uint(value, 0, XN_FRAME_VLANS_MAX, &options->vlans);
    case OPT_TO:
        return parse_mac(value, options->target);
    case OPT_FROM:
        return parse_mac(value, options->source);
    case OPT_LAYOUT:
        good = parse_word(value, xn_layout_name, XN_LAYOUTS, &word);
        options->layout.kind = word;
        return good;
    case OPT_SLOTS:
        good = parse_uint(value, 1, XN_LAYOUT_SLOTS, &options->layout.slots);
        if (options->layout.max < options->layout.slots) {
            options->layout.max = options->layout.slots;
        }
        return good;
    case OPT_EMPTY:
        return parse_uint(value, 0, XN_LAYOUT_SLOTS - 1, &options->layout.empty);
    case OPT_OFFSET:
        options->layout.random_offset = true;
        return true;
    case OPT_WINDOW:
        return parse_uint(value, 1, 100000, &options->window);
    case OPT_RATE:
        return parse_uint(value, 1, UINT32_MAX, &options->rate);
    case OPT_EXPECT_CSUM:
        good = parse_word(value, expectations, 3, &word);
        options->expect_csum = word;
        return good;
    case OPT_ALLOW_LOSS:
        options->allow_loss = true;
        return true;
    case OPT_NO_CANARY:
        options->frontend.rx_canary = false;
        return true;
    case OPT_SEED:
        good = parse_number(value, 0, UINT32_MAX, &number);
        options->seed = number;
        return good;
    case OPT_PROGRESS:
        options->progress = value;
        return true;
    case OPT_TAP:
        options->tap = value;
        return true;
    case OPT_INTERFACE:
        options->interface = value;
        return true;
    case OPT_ATTACK:
        options->attack = value;
        return true;
    case OPT_JSON:
        options->json = true;
        return true;
    case OPT_VERBOSE:
        options->frontend.verbose = true;
        return true;
    default:
        return false;
    }
}

bool options_parse(struct XnOptions *options, int argc, char **argv, int *status)
{
    int option;
    int index = 0;

    set_defaults(options);
    *status = XN_EXIT_USAGE;
    while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (option == OPT_HELP) {
            fputs(usage_text, stdout);
            *status = XN_EXIT_OK;
            return false;
        }
        if (option == '?') {
            fprintf(stderr, "qnetfront: see --help\n");
            return false;
        }
        if (!take_option(options, option, optarg)) {
            fprintf(stderr, "qnetfront: --%s does not take '%s', see --help\n",
                    long_options[index].name, optarg);
            return false;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "qnetfront: '%s' is not an option, see --help\n", argv[optind]);
        return false;
    }
    options->frontend.ctrl_ring |= ctrl_work_needed(&options->ctrl);
    if (!options->flows) {
        options->flows = options->frontend.queues;
    }
    if (!options->mode) {
        fprintf(stderr, "qnetfront: no --mode given, see --help\n");
        return false;
    }
    return true;
}
