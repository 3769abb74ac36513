/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights.c - a thread gives up what it may do more than others
 */
#include "base/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

void rights_drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) != 0) {
        log_warning(NULL, "cannot drop the capabilities of a thread: %s", g_strerror(errno));
    }
}
