/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-node.c - the paths and watch tokens of a vif
 */
#include "control/store-node.h"

#include <glib.h>
#include <string.h>

bool store_node_parse_number(const char *text, uint32_t maximum, uint32_t *ret_number)
{
    guint64 number;

    if ((text[0] == '0' && text[1] != '\0') ||
        !g_ascii_string_to_unsigned(text, 10, 0, maximum, &number, NULL)) {
        return false;
    }
    *ret_number = (uint32_t)number;
    return true;
}

/* "<domid><separator><devid>", then nothing, or with `more` another separator and anything. */
static bool parse_pair(const char *text, const char *separator, bool more, struct XnVifId *ret_id)
{
    g_auto(GStrv) parts = g_strsplit(text, separator, more ? 3 : -1);
    struct XnVifId id;

    if (!parts[0] || !parts[1] || (parts[2] && !more) ||
        !store_node_parse_number(parts[0], XN_DOMID_MAX, &id.domid) ||
        !store_node_parse_number(parts[1], XN_DEVID_MAX, &id.devid)) {
        return false;
    }
    *ret_id = id;
    return true;
}

bool store_node_parse_path(const char *base, const char *path, struct XnVifId *ret_id)
{
    size_t length = strlen(base);

    return strncmp(path, base, length) == 0 && path[length] == '/' &&
           parse_pair(path + length + 1, "/", true, ret_id);
}

char *store_node_token(struct XnVifId id)
{
    return g_strdup_printf("vif/%" G_GUINT32_FORMAT "/%" G_GUINT32_FORMAT, id.domid, id.devid);
}

bool store_node_parse_token(const char *token, struct XnVifId *ret_id)
{
    return strncmp(token, "vif/", 4) == 0 && parse_pair(token + 4, "/", false, ret_id);
}

char *store_node_vif_name(struct XnVifId id)
{
    return g_strdup_printf("vif%" G_GUINT32_FORMAT ".%" G_GUINT32_FORMAT, id.domid, id.devid);
}

bool store_node_parse_vif_name(const char *name, struct XnVifId *ret_id)
{
    return strncmp(name, "vif", 3) == 0 && parse_pair(name + 3, ".", false, ret_id);
}

char *store_node_backend_base(uint32_t own_domid)
{
    return g_strdup_printf("/local/domain/%" G_GUINT32_FORMAT "/backend/vif", own_domid);
}

char *store_node_backend(uint32_t own_domid, struct XnVifId id)
{
    return g_strdup_printf("/local/domain/%" G_GUINT32_FORMAT "/backend/vif/%" G_GUINT32_FORMAT
                           "/%" G_GUINT32_FORMAT,
                           own_domid, id.domid, id.devid);
}

char *store_node_error_base(uint32_t own_domid)
{
    return g_strdup_printf("/local/domain/%" G_GUINT32_FORMAT "/error/backend/vif", own_domid);
}

char *store_node_error(uint32_t own_domid, struct XnVifId id)
{
    g_autofree char *base = store_node_error_base(own_domid);

    return g_strdup_printf("%s/%" G_GUINT32_FORMAT "/%" G_GUINT32_FORMAT, base, id.domid, id.devid);
}
