/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gnttab.c - grants, over libxengnttab
 */
#include "xen/gnttab.h"

#include <errno.h>
#include <sys/mman.h>

#include <xen/xen.h>
#include <xen/grant_table.h>

#include "base/log.h"

struct XnGnttab {
    xengnttab_handle *handle;
};

struct XnSelfGrant {
    xengntshr_handle *handle;
    uint8_t *pages;
    uint32_t count;
    uint32_t refs[];
};

static const char *gnttab_open_advice(int error)
{
    switch (error) {
    case ENOENT:
    case ENXIO:
        return "is this a Xen domain, with the module xen-gntdev loaded?";
    case EACCES:
    case EPERM:
        return "run as root or give the user access to it";
    default:
        return "see the kernel's log";
    }
}

struct XnGnttab *gnttab_open(GError **error)
{
    struct XnGnttab *gnttab;
    xengnttab_handle *handle = xengnttab_open(NULL, 0);

    if (!handle) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot open /dev/xen/gntdev: %s; %s", g_strerror(saved),
                    gnttab_open_advice(saved));
        return NULL;
    }
    gnttab = g_new0(struct XnGnttab, 1);
    gnttab->handle = handle;
    return gnttab;
}

void gnttab_close(struct XnGnttab *gnttab)
{
    if (!gnttab) {
        return;
    }
    xengnttab_close(gnttab->handle);
    g_free(gnttab);
}

void *gnttab_map(struct XnGnttab *gnttab, uint32_t domid, uint32_t ref, bool writable,
                 GError **error)
{
    void *page = xengnttab_map_grant_ref(gnttab->handle, domid, ref,
                                         writable ? PROT_READ | PROT_WRITE : PROT_READ);

    if (!page) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot map grant %u of domain %u: %s", ref, domid, g_strerror(saved));
    }
    return page;
}

void gnttab_unmap(struct XnGnttab *gnttab, void *page)
{
    if (page && xengnttab_unmap(gnttab->handle, page, 1) != 0) {
        log_shared(XN_LOG_ERROR, NULL, "unmapping a granted page failed: %s", g_strerror(errno));
    }
}

bool gnttab_copy(struct XnGnttab *gnttab, XnCopySegment *segments, uint32_t count)
{
    if (count == 0 || xengnttab_grant_copy(gnttab->handle, count, segments) == 0) {
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        segments[i].status = GNTST_general_error;
    }
    return false;
}

struct XnSelfGrant *gnttab_self_grant(uint32_t domid, uint32_t count, GError **error)
{
    struct XnSelfGrant *grant;
    xengntshr_handle *handle = xengntshr_open(NULL, 0);

    if (!handle) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot open /dev/xen/gntalloc: %s; load the module xen-gntalloc",
                    g_strerror(saved));
        return NULL;
    }
    grant = g_malloc0(sizeof(*grant) + count * sizeof(grant->refs[0]));
    grant->handle = handle;
    grant->count = count;
    grant->pages = xengntshr_share_pages(handle, domid, (int)count, grant->refs, 1);
    if (!grant->pages) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot grant %u pages to ourselves: %s; raise "
                    "/sys/module/xen_gntalloc/parameters/limit",
                    count, g_strerror(saved));
        xengntshr_close(handle);
        g_free(grant);
        return NULL;
    }
    return grant;
}

void gnttab_self_grant_free(struct XnSelfGrant *grant)
{
    if (!grant) {
        return;
    }
    xengntshr_unshare(grant->handle, grant->pages, grant->count);
    xengntshr_close(grant->handle);
    g_free(grant);
}

uint8_t *gnttab_self_grant_pages(const struct XnSelfGrant *grant)
{
    return grant->pages;
}

uint32_t gnttab_self_grant_ref(const struct XnSelfGrant *grant, uint32_t index)
{
    g_assert(index < grant->count);
    return grant->refs[index];
}
