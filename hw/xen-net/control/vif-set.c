/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vif-set.c - what an administrator may change about a vif while it runs
 */
#include "control/vif-set.h"

#include <string.h>

#include "control/ctl-request.h"
#include "control/vif-private.h"
#include "control/vif-store.h"
#include "netif/credit.h"
#include "xenstore-keys.h"

/* The interval of a rate that names none, as with xl. */
#define VIF_SET_INTERVAL_US 50000u
#define VIF_SET_INTERVAL_MAX_US 1000000000u
/* Of one interval; a number of more than 64 bits would be no limit at all. */
#define VIF_SET_BYTES_MAX 1e18

typedef bool (*XnVifSetConvert)(const char *value, char **ret_text);

/* A number in front of *text, which moves behind it; false when there is none, or none that fits.
 */
static bool vif_set_number(const char **text, guint64 *ret_number)
{
    char *end;

    if (!g_ascii_isdigit((*text)[0])) {
        return false;
    }
    *ret_number = g_ascii_strtoull(*text, &end, 10);
    *text = end;
    return *ret_number > 0 && *ret_number < G_MAXUINT32;
}

/* "@20ms" and the like, or nothing. */
static bool vif_set_interval(const char *text, guint64 *ret_us)
{
    guint64 number;

    *ret_us = VIF_SET_INTERVAL_US;
    if (text[0] == '\0') {
        return true;
    }
    text++;
    if (text[-1] != '@' || !vif_set_number(&text, &number)) {
        return false;
    }
    if (strcmp(text, "us") == 0) {
        *ret_us = number;
    } else if (strcmp(text, "ms") == 0) {
        *ret_us = number * 1000;
    } else if (strcmp(text, "s") == 0) {
        *ret_us = number * 1000000;
    } else {
        return false;
    }
    return *ret_us <= VIF_SET_INTERVAL_MAX_US;
}

/* As in xl.cfg: a number, K, M or G, b (bits) or B (bytes), "/s", and perhaps an interval. */
static bool vif_set_rate_of_xl(const char *text, char **ret_text)
{
    static const char prefixes[] = "KMG";
    guint64 number;
    guint64 interval;
    const char *prefix;
    double bytes;

    if (!vif_set_number(&text, &number)) {
        return false;
    }
    bytes = (double)number;
    prefix = text[0] ? strchr(prefixes, text[0]) : NULL;
    for (const char *i = prefixes; prefix && i <= prefix; i++) {
        bytes *= 1000;
    }
    text += prefix ? 1 : 0;
    if (text[0] == 'b') {
        bytes /= 8;
    } else if (text[0] != 'B') {
        return false;
    }
    if (strncmp(text + 1, "/s", 2) != 0 || !vif_set_interval(text + 3, &interval)) {
        return false;
    }
    bytes = bytes * (double)interval / 1e6;
    if (bytes < 1 || bytes > VIF_SET_BYTES_MAX) {
        return false;
    }
    *ret_text = g_strdup_printf("%.0f,%" G_GUINT64_FORMAT, bytes, interval);
    return true;
}

static bool vif_set_rate(const char *value, char **ret_text)
{
    struct XnCreditRate rate;
    const char *reason;

    if (strcmp(value, "none") == 0) {
        return true;
    }
    if (credit_parse(value, &rate, &reason)) {
        *ret_text = g_strdup(value);
        return true;
    }
    return vif_set_rate_of_xl(value, ret_text);
}

/* One of two words, which become these texts; NULL removes the key. */
static bool vif_set_word(const char *value, const char *const words[2], const char *const texts[2],
                         char **ret_text)
{
    for (int i = 0; i < 2; i++) {
        if (strcmp(value, words[i]) == 0) {
            *ret_text = g_strdup(texts[i]);
            return true;
        }
    }
    return false;
}

static bool vif_set_csum_kind(const char *value, char **ret_text)
{
    return vif_set_word(value, (const char *[]){"offload", "fill"}, (const char *[]){NULL, "fill"},
                        ret_text);
}

static bool vif_set_switch(const char *value, char **ret_text)
{
    return vif_set_word(value, (const char *[]){"on", "off"}, (const char *[]){NULL, "0"},
                        ret_text);
}

static bool vif_set_admin(const char *value, char **ret_text)
{
    return vif_set_word(value, (const char *[]){"up", "down"}, (const char *[]){NULL, "1"},
                        ret_text);
}

static bool vif_set_direct(const char *value, char **ret_text)
{
    return strcmp(value, "default") == 0 ||
           vif_set_word(value, (const char *[]){"off", "on"}, (const char *[]){"0", "1"}, ret_text);
}

static bool vif_set_queues(const char *value, char **ret_text)
{
    union XnKeyValue unused;

    if (strcmp(value, "default") == 0) {
        return true;
    }
    *ret_text = g_strdup(value);
    return store_key_parse(&key_backend_max_queues, value, &unused, NULL);
}

bool vif_set_convert(const char *setting, const char *value, const struct XnKey **ret_key,
                     char **ret_text, GError **error)
{
    static const struct {
        const char *name;
        const struct XnKey *key;
        XnVifSetConvert convert;
        /* "SETTING must be ..." */
        const char *values;
    } settings[] = {
        {"rate", &key_backend_rate, vif_set_rate, "like 10Mb/s, or bytes,microseconds, or none"},
        {"rx-rate", &key_backend_guest_rx_rate, vif_set_rate,
         "like 10Mb/s, or bytes,microseconds, or none"},
        {"rx-csum", &key_backend_guest_rx_csum, vif_set_csum_kind, "offload or fill"},
        {"gso", &key_backend_gso, vif_set_switch, "on or off"},
        {"csum", &key_backend_csum, vif_set_switch, "on or off"},
        {"admin", &key_backend_admin_down, vif_set_admin, "up or down"},
        {"direct", &key_backend_direct, vif_set_direct, "on, off or default"},
        {"max-queues", &key_backend_max_queues, vif_set_queues, "a number 1..8, or default"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        g_autofree char *text = NULL;

        if (strcmp(settings[i].name, setting) != 0) {
            continue;
        }
        if (!settings[i].convert(value, &text)) {
            g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC, "%s is '%s', but must be %s",
                        setting, value, settings[i].values);
            return false;
        }
        *ret_key = settings[i].key;
        *ret_text = g_steal_pointer(&text);
        return true;
    }
    g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_GENERIC,
                "there is no setting '%s'; there are: " XN_VIF_SETTINGS, setting);
    return false;
}

bool vif_set(struct XnVif *vif, const char *setting, const char *value, GError **error)
{
    const struct XnKey *key;
    g_autofree char *text = NULL;
    bool done = false;

    if (!vif_set_convert(setting, value, &key, &text, error) ||
        !vif_store_write_setting(vif->host->store, vif->directory, key->name, text, &done, error)) {
        return false;
    }
    if (!done) {
        g_set_error(error, XN_CTL_ERROR, XN_CTL_ERROR_DEVICE_NOT_FOUND, "%s has just gone",
                    vif->name);
        return false;
    }
    log_info(vif->name, "the administrator has set %s to %s", setting, value);
    return true;
}
