/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-journal.h - what a control ring did, for a daemon that takes it over
 *
 * Theory of operation
 *
 * A message has two effects: something changes, and the guest gets a response. A process that dies
 * between the two leaves a ring in which the response may lie over the request already, so that the
 * message can be neither read again nor left alone. So each message is committed by one store, of
 * the index behind it, when its response is in the journal: one that is committed is answered from
 * there, one that is not is executed again.
 *
 * Hash settings can be set twice. Static grants cannot be added twice, so each entry of a queue's
 * list has, in the same word, the message that changed it: what the message that is not committed
 * has changed did not happen.
 *
 * Main thread. All of this lies in the vif's journal (journal-file.h) and is as good as what was
 * last stored when the process died.
 */
#ifndef XN_CONTROL_CTRL_JOURNAL_H
#define XN_CONTROL_CTRL_JOURNAL_H

#include "netif/static-grant.h"

/* Messages at most between two publications of responses. */
#define XN_CTRL_JOURNAL_RESPONSES 16u

/* All zero for a new connection. */
struct XnCtrlJournal {
    /* Ring index behind the last message that is committed. */
    uint32_t executed;
    /* The last responses; that of ring index i at i % XN_CTRL_JOURNAL_RESPONSES. */
    struct xen_netif_ctrl_response responses[XN_CTRL_JOURNAL_RESPONSES];
};

/* One queue's static grants, each at its place in the table. All zero for a new connection. */
struct XnGrantJournal {
    uint64_t words[XN_STATIC_GRANTS_MAX];
};

/* The next message is executed: its response is in order, and what it changed holds. */
void ctrl_journal_commit(struct XnCtrlJournal *journal,
                         const struct xen_netif_ctrl_response *response);

/*
 * How many messages, from ring index `answered` on, are to be answered from the journal: 0 when it
 * does not fit a ring with `posted` messages behind that, and then it goes on from there.
 */
uint32_t ctrl_journal_resume(struct XnCtrlJournal *journal, uint32_t answered, uint32_t posted);

/* The message that is being executed adds, or deletes, the grant at a place of the table. */
void grant_journal_add(struct XnGrantJournal *grants, const struct XnCtrlJournal *journal,
                       uint32_t index, const struct XnStaticGrant *grant);
void grant_journal_delete(struct XnGrantJournal *grants, const struct XnCtrlJournal *journal,
                          uint32_t index);

/* Was there never a grant? */
bool grant_journal_is_empty(const struct XnGrantJournal *grants);

/*
 * Fills an empty table with what was committed, before ctrl_journal_resume(). Returns how many
 * grants that are. Nonsense in the journal is left out.
 */
uint32_t grant_journal_restore(struct XnGrantJournal *grants, const struct XnCtrlJournal *journal,
                               struct XnStaticGrants *table);

/* The grant at a place of the table cannot be mapped any more. */
void grant_journal_forget(struct XnGrantJournal *grants, uint32_t index);

#endif
