/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim-call.c - libxencall.so.1 on the simulated host: the few hypercalls that xenstored and xl
 * need to list domains.  All others fail with ENOSYS; $XENSIM_TRACE names them on standard error.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The control interfaces are for tools of the hypervisor's own version only. */
#define __XEN_TOOLS__ 1
#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/sysctl.h>
#include <xen/version.h>
#include <xencall.h>

#include "core.h"

xencall_handle *xencall_open(struct xentoollog_logger *logger, unsigned open_flags)
{
    (void)logger;
    (void)open_flags;
    return core_attach() ? malloc(1) : NULL;
}

int xencall_close(xencall_handle *xcall)
{
    free(xcall);
    return 0;
}

int xencall_fd(xencall_handle *xcall)
{
    (void)xcall;
    return -1;
}

void *xencall_alloc_buffer_pages(xencall_handle *xcall, size_t nr_pages)
{
    void *pages = mmap(NULL, nr_pages * SIM_PAGE_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)xcall;
    return pages == MAP_FAILED ? NULL : pages;
}

void xencall_free_buffer_pages(xencall_handle *xcall, void *p, size_t nr_pages)
{
    (void)xcall;
    if (p) {
        munmap(p, nr_pages * SIM_PAGE_SIZE);
    }
}

void *xencall_alloc_buffer(xencall_handle *xcall, size_t size)
{
    (void)xcall;
    return aligned_alloc(SIM_PAGE_SIZE, (size + SIM_PAGE_SIZE - 1) & ~(size_t)(SIM_PAGE_SIZE - 1));
}

void xencall_free_buffer(xencall_handle *xcall, void *p)
{
    (void)xcall;
    free(p);
}

int xencall_buffers_never_fault(xencall_handle *xcall)
{
    (void)xcall;
    return 1;
}

static int not_modelled(const char *what, unsigned op, uint64_t argument)
{
    if (getenv("XENSIM_TRACE")) {
        fprintf(stderr, "xensim: %s %u (%#llx) is not modelled\n", what, op,
                (unsigned long long)argument);
    }
    errno = ENOSYS;
    return -1;
}

static void describe_domain(uint16_t domid, xen_domctl_getdomaininfo_t *info)
{
    const struct SimDomain *domain = domain_tables(domid);

    memset(info, 0, sizeof(*info));
    info->domain = domid;
    info->flags = domain_is_alive(domid) ? XEN_DOMINF_running : XEN_DOMINF_dying;
    info->tot_pages = domain_is_alive(domid) || !domain ? SIM_MAX_FRAMES : domain->pinned_pages;
    info->max_pages = SIM_MAX_FRAMES;
    info->nr_online_vcpus = 1;
    /* The uuid says which domain it is: 00000000-0000-0000-0000-0000000000NN, in hexadecimal. */
    info->handle[14] = (uint8_t)(domid >> 8);
    info->handle[15] = (uint8_t)domid;
}

/* The first existing domain from here on, or SIM_MAX_DOMAINS. */
static uint32_t next_domain(uint32_t domid)
{
    while (domid < SIM_MAX_DOMAINS && sim_world->domain_state[domid] == SIM_DOMAIN_ABSENT) {
        domid++;
    }
    return domid;
}

static int domctl(struct xen_domctl *op)
{
    uint32_t domid;

    if (op->cmd != XEN_DOMCTL_getdomaininfo) {
        return not_modelled("domctl", op->cmd, op->domain);
    }
    domid = next_domain(op->domain);
    if (domid >= SIM_MAX_DOMAINS) {
        errno = ESRCH;
        return -1;
    }
    describe_domain((uint16_t)domid, &op->u.getdomaininfo);
    op->domain = (domid_t)domid;
    return 0;
}

static int list_domains(struct xen_sysctl_getdomaininfolist *list)
{
    uint32_t domid = next_domain(list->first_domain);
    uint32_t count = 0;

    while (domid < SIM_MAX_DOMAINS && count < list->max_domains) {
        describe_domain((uint16_t)domid, &list->buffer.p[count++]);
        domid = next_domain(domid + 1);
    }
    list->num_domains = count;
    return 0;
}

static int describe_host(struct xen_sysctl_physinfo *host)
{
    memset(host, 0, sizeof(*host));
    host->threads_per_core = 1;
    host->cores_per_socket = 1;
    host->nr_cpus = 2;
    host->max_cpu_id = 1;
    host->nr_nodes = 1;
    host->cpu_khz = 1000000;
    return 0;
}

static int xen_sysctl_call(struct xen_sysctl *op)
{
    switch (op->cmd) {
    case XEN_SYSCTL_getdomaininfolist:
        return list_domains(&op->u.getdomaininfolist);
    case XEN_SYSCTL_physinfo:
        return describe_host(&op->u.physinfo);
    default:
        return not_modelled("sysctl", op->cmd, 0);
    }
}

static int version_call(uint64_t what, void *answer)
{
    switch (what) {
    case XENVER_version:
        return 4 << 16 | 17;
    case XENVER_pagesize:
        return SIM_PAGE_SIZE;
    case XENVER_commandline:
        memset(answer, 0, sizeof(xen_commandline_t));
        return 0;
    default:
        if (answer) {
            memset(answer, 0, sizeof(xen_extraversion_t));
        }
        return 0;
    }
}

int xencall0(xencall_handle *xcall, unsigned int op)
{
    (void)xcall;
    return not_modelled("hypercall", op, 0);
}

int xencall1(xencall_handle *xcall, unsigned int op, uint64_t arg1)
{
    (void)xcall;
    switch (op) {
    case __HYPERVISOR_domctl:
        return domctl((struct xen_domctl *)(uintptr_t)arg1);
    case __HYPERVISOR_sysctl:
        return xen_sysctl_call((struct xen_sysctl *)(uintptr_t)arg1);
    default:
        return not_modelled("hypercall", op, arg1);
    }
}

int xencall2(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2)
{
    (void)xcall;
    if (op == __HYPERVISOR_xen_version) {
        return version_call(arg1, (void *)(uintptr_t)arg2);
    }
    return not_modelled("hypercall", op, arg1);
}

int xencall3(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2, uint64_t arg3)
{
    (void)xcall;
    (void)arg2;
    (void)arg3;
    return not_modelled("hypercall", op, arg1);
}

int xencall4(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2, uint64_t arg3,
             uint64_t arg4)
{
    (void)xcall;
    (void)arg2;
    (void)arg3;
    (void)arg4;
    return not_modelled("hypercall", op, arg1);
}

int xencall5(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2, uint64_t arg3,
             uint64_t arg4, uint64_t arg5)
{
    (void)xcall;
    (void)arg2;
    (void)arg3;
    (void)arg4;
    (void)arg5;
    return not_modelled("hypercall", op, arg1);
}

long xencall2L(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2)
{
    (void)xcall;
    (void)arg2;
    return not_modelled("hypercall", op, arg1);
}
