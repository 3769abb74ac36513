/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dom0-soft-reset.c - carries out the soft reset that a PVH guest has asked for by kexec
 *
 *   dom0-soft-reset DOMID
 *
 * What libxl 4.17 does for an HVM guest only. The guest has ended with the reason "soft reset" and
 * been preserved (on_soft_reset = "preserve"). Xen closes its event channels and forgets where it
 * had its shared pages; then the guest gets new channels to xenstored and to xenconsoled, whose
 * rings stay where they are. The guest is paused at the end, so that its devices can be added.
 */
#define __XEN_TOOLS__ 1 /* for what only dom0 may do */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xen/hvm/params.h>
#include <xenctrl.h>
#include <xenstore.h>

static void die(const char *what)
{
    fprintf(stderr, "dom0-soft-reset: %s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned long read_number(struct xs_handle *store, uint32_t domid, const char *key)
{
    char path[80];
    char *value;
    unsigned long number;

    snprintf(path, sizeof(path), "/local/domain/%" PRIu32 "/%s", domid, key);
    value = xs_read(store, XBT_NULL, path, NULL);
    if (!value) {
        die(path);
    }
    number = strtoul(value, NULL, 10);
    free(value);
    return number;
}

static void write_number(struct xs_handle *store, uint32_t domid, const char *key, uint32_t number)
{
    char path[80];
    char value[16];

    snprintf(path, sizeof(path), "/local/domain/%" PRIu32 "/%s", domid, key);
    snprintf(value, sizeof(value), "%" PRIu32, number);
    if (!xs_write(store, XBT_NULL, path, value, (unsigned)strlen(value))) {
        die(path);
    }
}

/* A channel of the guest's for dom0 to bind, and where the guest finds its number. */
static uint32_t new_evtchn(xc_interface *xen, uint32_t domid, uint32_t parameter)
{
    int evtchn = xc_evtchn_alloc_unbound(xen, domid, 0);

    if (evtchn < 0 || xc_hvm_param_set(xen, domid, parameter, (uint64_t)evtchn) != 0) {
        die("new event channel");
    }
    return (uint32_t)evtchn;
}

int main(int argc, char **argv)
{
    uint32_t domid = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    xc_interface *xen = xc_interface_open(NULL, NULL, 0);
    struct xs_handle *store = xs_open(0);
    unsigned long store_page;
    uint32_t evtchn;

    if (domid == 0) {
        fputs("usage: dom0-soft-reset DOMID\n", stderr);
        return 2;
    }
    if (!xen || !store) {
        die("Xen or xenstore");
    }
    store_page = read_number(store, domid, "store/ring-ref");
    if (xc_domain_pause(xen, domid) != 0) {
        die("pause");
    }
    if (xc_domain_soft_reset(xen, domid) != 0) {
        die("soft reset");
    }
    evtchn = new_evtchn(xen, domid, HVM_PARAM_STORE_EVTCHN);
    write_number(store, domid, "store/port", evtchn);
    if (!xs_introduce_domain(store, domid, store_page, evtchn)) {
        die("introduction to xenstored");
    }
    evtchn = new_evtchn(xen, domid, HVM_PARAM_CONSOLE_EVTCHN);
    write_number(store, domid, "console/port", evtchn);
    xs_close(store);
    xc_interface_close(xen);
    return 0;
}
