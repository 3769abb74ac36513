/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl-journal.c - what a control ring did, for a daemon that takes it over
 */
#include "control/ctrl-journal.h"

/* A word: the reference, then the message's number, as far as there is room, then flags. */
#define WORD_MESSAGE_SHIFT 32u
#define WORD_MESSAGE_MASK 0xffffffu
#define WORD_USED (1ull << 56)
/* Was in use until the message. */
#define WORD_DELETED (1ull << 57)
#define WORD_READONLY (1ull << 58)

static uint64_t word_message(uint32_t message)
{
    return (uint64_t)(message & WORD_MESSAGE_MASK) << WORD_MESSAGE_SHIFT;
}

static void word_store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

void ctrl_journal_commit(struct XnCtrlJournal *journal,
                         const struct xen_netif_ctrl_response *response)
{
    journal->responses[journal->executed % XN_CTRL_JOURNAL_RESPONSES] = *response;
    __atomic_store_n(&journal->executed, journal->executed + 1, __ATOMIC_RELEASE);
}

uint32_t ctrl_journal_resume(struct XnCtrlJournal *journal, uint32_t answered, uint32_t posted)
{
    uint32_t count = journal->executed - answered;

    if (count <= XN_CTRL_JOURNAL_RESPONSES && count <= posted) {
        return count;
    }
    journal->executed = answered;
    return 0;
}

void grant_journal_add(struct XnGrantJournal *grants, const struct XnCtrlJournal *journal,
                       uint32_t index, const struct XnStaticGrant *grant)
{
    word_store(&grants->words[index], WORD_USED | (grant->readonly ? WORD_READONLY : 0) |
                                          word_message(journal->executed) | grant->ref);
}

void grant_journal_delete(struct XnGrantJournal *grants, const struct XnCtrlJournal *journal,
                          uint32_t index)
{
    uint64_t word = grants->words[index] & (WORD_READONLY | UINT32_MAX);

    word_store(&grants->words[index], word | WORD_DELETED | word_message(journal->executed));
}

bool grant_journal_is_empty(const struct XnGrantJournal *grants)
{
    for (uint32_t i = 0; i < XN_STATIC_GRANTS_MAX; i++) {
        if (grants->words[i] != 0) {
            return false;
        }
    }
    return true;
}

uint32_t grant_journal_restore(struct XnGrantJournal *grants, const struct XnCtrlJournal *journal,
                               struct XnStaticGrants *table)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < table->limit; i++) {
        uint64_t word = grants->words[i];
        bool happened = (word & ((uint64_t)WORD_MESSAGE_MASK << WORD_MESSAGE_SHIFT)) !=
                        word_message(journal->executed);
        struct XnStaticGrant grant = {.ref = (uint32_t)word, .readonly = word & WORD_READONLY};

        if (((word & WORD_USED) && happened) || ((word & WORD_DELETED) && !happened)) {
            if (static_grant_restore(table, i, &grant)) {
                count++;
                continue;
            }
        }
        grant_journal_forget(grants, i);
    }
    return count;
}

void grant_journal_forget(struct XnGrantJournal *grants, uint32_t index)
{
    word_store(&grants->words[index], 0);
}
