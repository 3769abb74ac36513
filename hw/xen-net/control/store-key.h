/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-key.h - reading and writing keys by the schema's types
 *
 * The keys themselves are declared in xenstore-keys.h, which is made from xenstore-schema/: include
 * that. Each read has three outcomes: the value; the default or "none" for an absent key; an error
 * that names the key, the value and what it may be.
 */
#ifndef XN_CONTROL_STORE_KEY_H
#define XN_CONTROL_STORE_KEY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <xen/io/xenbus.h>

#include "xen/store.h"

enum XnKeyType {
    XN_KEY_NUMBER,
    XN_KEY_FLAG,
    XN_KEY_STATE,
    XN_KEY_MAC,
    XN_KEY_PATH,
    XN_KEY_TEXT,
};

/* What an absent key means. */
enum XnKeyAbsent {
    XN_KEY_REQUIRED,
    XN_KEY_OPTIONAL,
    XN_KEY_DEFAULT,
};

struct XnKey {
    const char *name;
    enum XnKeyType type;
    /* Of a number or state, inclusive. */
    uint32_t minimum;
    uint32_t maximum;
    enum XnKeyAbsent absent;
    /* The default, as it would stand in xenstore. */
    const char *fallback;
};

struct XnMac {
    uint8_t octet[6];
};

#define XN_STORE_KEY_ERROR (store_key_error_quark())
GQuark store_key_error_quark(void);

enum XnStoreKeyError {
    /* A required key does not exist. */
    XN_STORE_KEY_ERROR_ABSENT,
    /* The value is not of the key's type, or outside of its range. */
    XN_STORE_KEY_ERROR_MALFORMED,
};

/* A value that a key can have, as far as it is not text. */
union XnKeyValue {
    uint32_t number;
    struct XnMac mac;
};

/* The start of a value that is not what it should be, as a message can quote it; for g_free(). */
char *store_key_quote(const char *text);

/* Parses `text` by the type of `key`. Text and paths are only checked. Pure. */
bool store_key_parse(const struct XnKey *key, const char *text, union XnKeyValue *ret_value,
                     GError **error);

/*
 * Read `key` in `directory`. A number that is optional and absent reads as 0, text as NULL; text is
 * to be freed with g_free(). *ret_value is untouched on failure.
 */
bool store_key_read_number(struct XnStore *store, const char *directory, const struct XnKey *key,
                           uint32_t *ret_value, GError **error);
bool store_key_read_flag(struct XnStore *store, const char *directory, const struct XnKey *key,
                         bool *ret_value, GError **error);
bool store_key_read_mac(struct XnStore *store, const char *directory, const struct XnKey *key,
                        struct XnMac *ret_value, GError **error);
bool store_key_read_text(struct XnStore *store, const char *directory, const struct XnKey *key,
                         char **ret_value, GError **error);

/* Write `key` in `directory`. */
bool store_key_write_number(struct XnStore *store, const char *directory, const struct XnKey *key,
                            uint32_t value, GError **error);
bool store_key_write_flag(struct XnStore *store, const char *directory, const struct XnKey *key,
                          bool value, GError **error);
bool store_key_write_state(struct XnStore *store, const char *directory, const struct XnKey *key,
                           enum xenbus_state value, GError **error);
bool store_key_write_text(struct XnStore *store, const char *directory, const struct XnKey *key,
                          const char *value, GError **error);

#endif
