/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * service.h - what the daemon tells the service manager that started it
 *
 * The protocol of sd_notify(3). Without a service manager that listens, all of this does nothing.
 * Main thread.
 */
#ifndef XN_SERVICE_H
#define XN_SERVICE_H

/*
 * Connects to the service manager, once, before the daemon gives up the rights or the view of the
 * file system that this takes. Later calls do nothing.
 */
void service_connect(void);

/* Says `state`, like "READY=1". */
void service_say(const char *state);

/*
 * From now on says that the main loop turns, twice in each interval that the service manager asks
 * for, if it does. It ends and starts anew a daemon that falls silent.
 */
void service_start_watchdog(void);

#endif
