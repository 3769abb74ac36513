/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal-file.h - a queue's journal as a file that outlives the process
 *
 * Theory of operation
 *
 * The file lies in a directory on a tmpfs and is mapped, so that writing to the journal costs
 * nothing and what was written is there after the death of the process, though not of the machine.
 * Its head says which connection it belongs to: a file of another connection is never used.
 * Main thread; the journal itself belongs to the queue's worker.
 */
#ifndef XN_CONTROL_JOURNAL_FILE_H
#define XN_CONTROL_JOURNAL_FILE_H

#include <glib.h>
#include <stdbool.h>

#include "control/ctrl-journal.h"
#include "data/journal.h"
#include "data/vif-shared.h"

/* What makes a connection the same one; every byte counts, so start from a zeroed struct. */
struct XnJournalIdentity {
    /* the guest's, as the toolstack gave it: tells guests apart that had the same domid */
    uint8_t mac[8];
    uint32_t domid;
    uint32_t devid;
    uint32_t queue;
    uint32_t guest_tx_ref;
    uint32_t guest_rx_ref;
    uint32_t guest_tx_evtchn;
    uint32_t guest_rx_evtchn;
    uint32_t ctrl_ref;
    uint32_t ctrl_evtchn;
};

struct XnJournalFile;

/* Makes an empty journal for a new connection, in place of an old one. NULL with an error. */
struct XnJournalFile *journal_file_create(const char *directory,
                                          const struct XnJournalIdentity *identity, GError **error);

/* Opens the journal that a predecessor left of this connection. NULL, with the reason, else. */
struct XnJournalFile *journal_file_open(const char *directory,
                                        const struct XnJournalIdentity *identity, GError **error);

/* The mapped journal; lives as long as the file is open. */
struct XnJournal *journal_file_journal(struct XnJournalFile *file);

/* What the vif's guest has told us, which is in the journal of its queue 0. */
struct XnVifMemory *journal_file_memory(struct XnJournalFile *file);

/* What its control ring did, likewise. */
struct XnCtrlJournal *journal_file_ctrl(struct XnJournalFile *file);

/* The static grants of the file's own queue. */
struct XnGrantJournal *journal_file_grants(struct XnJournalFile *file);

/* Closes it, and deletes it when its connection has ended; NULL is fine. */
void journal_file_close(struct XnJournalFile *file, bool delete);

/* Deletes the journals of a vif's queues; none need be there. */
void journal_file_delete(const char *directory, uint32_t domid, uint32_t devid);

/*
 * Deletes the journals in the directory whose vif `is_known` does not know: those of connections
 * that ended while no daemon ran.
 */
void journal_file_delete_left(const char *directory,
                              bool (*is_known)(void *opaque, uint32_t domid, uint32_t devid),
                              void *opaque);

#endif
