/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim-foreignmemory.c - libxenforeignmemory.so.1 on the simulated host: a guest's frame number is
 * its page's index in the domain's RAM.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xenforeignmemory.h>

#include "core.h"

xenforeignmemory_handle *xenforeignmemory_open(struct xentoollog_logger *logger,
                                               unsigned open_flags)
{
    (void)logger;
    (void)open_flags;
    return core_attach() ? malloc(1) : NULL;
}

int xenforeignmemory_close(xenforeignmemory_handle *fmem)
{
    free(fmem);
    return 0;
}

static int map_frame(int fd, uint8_t *address, int prot, xen_pfn_t frame)
{
    if (frame >= SIM_MAX_FRAMES) {
        return EINVAL;
    }
    if (mmap(address, SIM_PAGE_SIZE, prot, MAP_SHARED | MAP_FIXED, fd,
             (off_t)frame * SIM_PAGE_SIZE) == MAP_FAILED) {
        return errno;
    }
    return 0;
}

void *xenforeignmemory_map2(xenforeignmemory_handle *fmem, uint32_t dom, void *addr, int prot,
                            int flags, size_t pages, const xen_pfn_t arr[], int err[])
{
    uint8_t *address;
    size_t i;
    int error;
    int fd;

    (void)fmem;
    (void)flags;
    if (inject_call(SIM_CALL_foreign_map)) {
        return NULL;
    }
    if (dom >= SIM_MAX_DOMAINS || !domain_is_alive((uint16_t)dom)) {
        errno = ESRCH;
        return NULL;
    }
    address = mmap(addr, pages * SIM_PAGE_SIZE, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | (addr ? MAP_FIXED : 0), -1, 0);
    fd = core_open_memory((uint16_t)dom);
    if (address == MAP_FAILED || fd < 0) {
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    for (i = 0; i < pages; i++) {
        error = map_frame(fd, address + i * SIM_PAGE_SIZE, prot, arr[i]);
        if (err) {
            err[i] = -error;
        } else if (error) {
            munmap(address, pages * SIM_PAGE_SIZE);
            close(fd);
            errno = error;
            return NULL;
        }
    }
    close(fd);
    return address;
}

void *xenforeignmemory_map(xenforeignmemory_handle *fmem, uint32_t dom, int prot, size_t pages,
                           const xen_pfn_t arr[], int err[])
{
    return xenforeignmemory_map2(fmem, dom, NULL, prot, 0, pages, arr, err);
}

int xenforeignmemory_unmap(xenforeignmemory_handle *fmem, void *addr, size_t pages)
{
    (void)fmem;
    return munmap(addr, pages * SIM_PAGE_SIZE);
}

int xenforeignmemory_restrict(xenforeignmemory_handle *fmem, domid_t domid)
{
    (void)fmem;
    (void)domid;
    errno = EOPNOTSUPP;
    return -1;
}

xenforeignmemory_resource_handle *xenforeignmemory_map_resource(
    xenforeignmemory_handle *fmem, domid_t domid, unsigned int type, unsigned int id,
    unsigned long frame, unsigned long nr_frames, void **paddr, int prot, int flags)
{
    (void)fmem;
    (void)domid;
    (void)type;
    (void)id;
    (void)frame;
    (void)nr_frames;
    (void)paddr;
    (void)prot;
    (void)flags;
    errno = EOPNOTSUPP;
    return NULL;
}

int xenforeignmemory_unmap_resource(xenforeignmemory_handle *fmem,
                                    xenforeignmemory_resource_handle *fres)
{
    (void)fmem;
    (void)fres;
    errno = EOPNOTSUPP;
    return -1;
}

int xenforeignmemory_resource_size(xenforeignmemory_handle *fmem, domid_t domid, unsigned int type,
                                   unsigned int id, size_t *size)
{
    (void)fmem;
    (void)domid;
    (void)type;
    (void)id;
    (void)size;
    errno = EOPNOTSUPP;
    return -1;
}
