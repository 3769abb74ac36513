/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim-devicemodel.c - libxendevicemodel.so.1 on the simulated host: it opens, and can do nothing.
 *
 * libxenctrl opens a handle at its start, so the library must be there.  Callers pass arguments of
 * many shapes; none is looked at, so the header with the true prototypes is not included.
 */
#include <errno.h>
#include <stdlib.h>

struct xentoollog_logger;

void *xendevicemodel_open(struct xentoollog_logger *logger, unsigned int open_flags);
int xendevicemodel_close(void *dmod);

void *xendevicemodel_open(struct xentoollog_logger *logger, unsigned int open_flags)
{
    (void)logger;
    (void)open_flags;
    return malloc(1);
}

int xendevicemodel_close(void *dmod)
{
    free(dmod);
    return 0;
}

#define NOT_MODELLED(name) \
    int name(void);        \
    int name(void)         \
    {                      \
        errno = ENOSYS;    \
        return -1;         \
    }

NOT_MODELLED(xendevicemodel_create_ioreq_server)
NOT_MODELLED(xendevicemodel_destroy_ioreq_server)
NOT_MODELLED(xendevicemodel_get_ioreq_server_info)
NOT_MODELLED(xendevicemodel_inject_event)
NOT_MODELLED(xendevicemodel_inject_msi)
NOT_MODELLED(xendevicemodel_map_io_range_to_ioreq_server)
NOT_MODELLED(xendevicemodel_map_mem_type_to_ioreq_server)
NOT_MODELLED(xendevicemodel_map_pcidev_to_ioreq_server)
NOT_MODELLED(xendevicemodel_modified_memory)
NOT_MODELLED(xendevicemodel_modified_memory_bulk)
NOT_MODELLED(xendevicemodel_nr_vcpus)
NOT_MODELLED(xendevicemodel_pin_memory_cacheattr)
NOT_MODELLED(xendevicemodel_relocate_memory)
NOT_MODELLED(xendevicemodel_restrict)
NOT_MODELLED(xendevicemodel_set_ioreq_server_state)
NOT_MODELLED(xendevicemodel_set_irq_level)
NOT_MODELLED(xendevicemodel_set_isa_irq_level)
NOT_MODELLED(xendevicemodel_set_mem_type)
NOT_MODELLED(xendevicemodel_set_pci_intx_level)
NOT_MODELLED(xendevicemodel_set_pci_link_route)
NOT_MODELLED(xendevicemodel_shutdown)
NOT_MODELLED(xendevicemodel_track_dirty_vram)
NOT_MODELLED(xendevicemodel_unmap_io_range_from_ioreq_server)
NOT_MODELLED(xendevicemodel_unmap_pcidev_from_ioreq_server)
