/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-key.c - reading and writing keys by the schema's types
 */
#include "control/store-key.h"

/* How much of a bad value a message quotes. */
#define STORE_KEY_QUOTE_MAX 40

GQuark store_key_error_quark(void)
{
    return g_quark_from_static_string("qnetback-store-key");
}

char *store_key_quote(const char *text)
{
    g_autofree char *start = g_strndup(text, STORE_KEY_QUOTE_MAX);

    return g_strescape(start, NULL);
}

static bool store_key_malformed(const struct XnKey *key, const char *text, const char *expected,
                                GError **error)
{
    g_autofree char *quoted = store_key_quote(text);

    g_set_error(error, XN_STORE_KEY_ERROR, XN_STORE_KEY_ERROR_MALFORMED, "%s is '%s', not %s",
                key->name, quoted, expected);
    return false;
}

static bool store_key_parse_number(const struct XnKey *key, const char *text, uint32_t *ret_value,
                                   GError **error)
{
    guint64 number;

    if (!g_ascii_string_to_unsigned(text, 10, key->minimum, key->maximum, &number, NULL)) {
        g_autofree char *expected =
            key->minimum == key->maximum
                ? g_strdup_printf("%" G_GUINT32_FORMAT, key->minimum)
                : g_strdup_printf("a number %" G_GUINT32_FORMAT "..%" G_GUINT32_FORMAT,
                                  key->minimum, key->maximum);

        return store_key_malformed(key, text, expected, error);
    }
    *ret_value = (uint32_t)number;
    return true;
}

static bool store_key_parse_mac(const struct XnKey *key, const char *text, struct XnMac *ret_value,
                                GError **error)
{
    struct XnMac mac = {{0}};
    const char *at = text;

    for (unsigned i = 0; i < G_N_ELEMENTS(mac.octet); i++) {
        if (!g_ascii_isxdigit(at[0]) || !g_ascii_isxdigit(at[1]) ||
            at[2] != (i + 1 < G_N_ELEMENTS(mac.octet) ? ':' : '\0')) {
            return store_key_malformed(key, text, "a MAC address like 00:16:3e:01:02:03", error);
        }
        mac.octet[i] = (uint8_t)(g_ascii_xdigit_value(at[0]) * 16 + g_ascii_xdigit_value(at[1]));
        at += 3;
    }
    if (mac.octet[0] & 1) {
        return store_key_malformed(key, text, "the address of one station", error);
    }
    *ret_value = mac;
    return true;
}

bool store_key_parse(const struct XnKey *key, const char *text, union XnKeyValue *ret_value,
                     GError **error)
{
    switch (key->type) {
    case XN_KEY_NUMBER:
    case XN_KEY_STATE:
        return store_key_parse_number(key, text, &ret_value->number, error);
    case XN_KEY_FLAG:
        if ((text[0] != '0' && text[0] != '1') || text[1] != '\0') {
            return store_key_malformed(key, text, "0 or 1", error);
        }
        ret_value->number = text[0] == '1';
        return true;
    case XN_KEY_MAC:
        return store_key_parse_mac(key, text, &ret_value->mac, error);
    case XN_KEY_PATH:
        if (text[0] != '/' || g_str_has_suffix(text, "/")) {
            return store_key_malformed(key, text, "an absolute path", error);
        }
        return true;
    case XN_KEY_TEXT:
        return true;
    }
    g_assert_not_reached();
}

/* The text of a key, or its default. NULL without an error: absent, and that is fine. */
static char *store_key_text(struct XnStore *store, const char *directory, const struct XnKey *key,
                            GError **error)
{
    g_autofree char *path = g_strconcat(directory, "/", key->name, NULL);
    g_autoptr(GError) local_error = NULL;
    char *text = store_read(store, path, &local_error);

    if (text) {
        return text;
    }
    if (g_error_matches(local_error, XN_STORE_ERROR, XN_STORE_ERROR_MALFORMED)) {
        g_set_error(error, XN_STORE_KEY_ERROR, XN_STORE_KEY_ERROR_MALFORMED, "%s",
                    local_error->message);
        return NULL;
    }
    if (!g_error_matches(local_error, XN_STORE_ERROR, XN_STORE_ERROR_ABSENT) &&
        !g_error_matches(local_error, XN_STORE_ERROR, XN_STORE_ERROR_DENIED)) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return NULL;
    }
    switch (key->absent) {
    case XN_KEY_REQUIRED:
        g_set_error(error, XN_STORE_KEY_ERROR, XN_STORE_KEY_ERROR_ABSENT, "%s is missing",
                    key->name);
        return NULL;
    case XN_KEY_DEFAULT:
        return g_strdup(key->fallback);
    case XN_KEY_OPTIONAL:
        return NULL;
    }
    g_assert_not_reached();
}

/* Reads what is not text. An optional key that is absent leaves *ret_value as it is. */
static bool store_key_value(struct XnStore *store, const char *directory, const struct XnKey *key,
                            union XnKeyValue *ret_value, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    g_autofree char *text = store_key_text(store, directory, key, &local_error);

    if (local_error) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return false;
    }
    return !text || store_key_parse(key, text, ret_value, error);
}

bool store_key_read_number(struct XnStore *store, const char *directory, const struct XnKey *key,
                           uint32_t *ret_value, GError **error)
{
    union XnKeyValue value = {.number = 0};

    if (!store_key_value(store, directory, key, &value, error)) {
        return false;
    }
    *ret_value = value.number;
    return true;
}

bool store_key_read_flag(struct XnStore *store, const char *directory, const struct XnKey *key,
                         bool *ret_value, GError **error)
{
    union XnKeyValue value = {.number = 0};

    if (!store_key_value(store, directory, key, &value, error)) {
        return false;
    }
    *ret_value = value.number != 0;
    return true;
}

bool store_key_read_mac(struct XnStore *store, const char *directory, const struct XnKey *key,
                        struct XnMac *ret_value, GError **error)
{
    union XnKeyValue value = {.number = 0};

    if (!store_key_value(store, directory, key, &value, error)) {
        return false;
    }
    *ret_value = value.mac;
    return true;
}

bool store_key_read_text(struct XnStore *store, const char *directory, const struct XnKey *key,
                         char **ret_value, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    g_autofree char *text = store_key_text(store, directory, key, &local_error);
    union XnKeyValue unused;

    if (local_error) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return false;
    }
    if (text && !store_key_parse(key, text, &unused, error)) {
        return false;
    }
    *ret_value = g_steal_pointer(&text);
    return true;
}

bool store_key_write_text(struct XnStore *store, const char *directory, const struct XnKey *key,
                          const char *value, GError **error)
{
    g_autofree char *path = g_strconcat(directory, "/", key->name, NULL);

    return store_write(store, path, value, error);
}

bool store_key_write_number(struct XnStore *store, const char *directory, const struct XnKey *key,
                            uint32_t value, GError **error)
{
    g_autofree char *text = g_strdup_printf("%" G_GUINT32_FORMAT, value);

    g_assert(value >= key->minimum && value <= key->maximum);
    return store_key_write_text(store, directory, key, text, error);
}

bool store_key_write_flag(struct XnStore *store, const char *directory, const struct XnKey *key,
                          bool value, GError **error)
{
    return store_key_write_text(store, directory, key, value ? "1" : "0", error);
}

bool store_key_write_state(struct XnStore *store, const char *directory, const struct XnKey *key,
                           enum xenbus_state value, GError **error)
{
    return store_key_write_number(store, directory, key, (uint32_t)value, error);
}
