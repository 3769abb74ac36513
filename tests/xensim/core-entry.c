/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-entry.c - death between two stores to a ring.
 */
#include "core-entry.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "core.h"

#define ENTRY_PAGES 16384
/* A ring's indices; its entries are behind them. */
#define ENTRY_RING_HEAD 64u
/* The processor's flag for single steps. */
#define ENTRY_TRAP_FLAG 0x100

static _Atomic uintptr_t entry_pages[ENTRY_PAGES];
static atomic_bool entry_watched;
/* The page that this thread's single step is about. */
static _Thread_local uintptr_t entry_step_page;
static _Thread_local uintptr_t entry_step_offset;

static void entry_protect(uintptr_t page, int protection)
{
    mprotect((void *)page, SIM_PAGE_SIZE, protection);
}

void entry_mapped(void *address, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++) {
        uintptr_t page = (uintptr_t)address + (uintptr_t)i * SIM_PAGE_SIZE;

        for (uint32_t k = 0; k < ENTRY_PAGES; k++) {
            uintptr_t none = 0;

            if (atomic_compare_exchange_strong(&entry_pages[k], &none, page)) {
                break;
            }
        }
        if (atomic_load(&entry_watched)) {
            entry_protect(page, PROT_READ);
        }
    }
}

void entry_unmapped(void *address, uint32_t pages)
{
    for (uint32_t k = 0; k < ENTRY_PAGES; k++) {
        uintptr_t page = atomic_load(&entry_pages[k]);

        if (page >= (uintptr_t)address && page - (uintptr_t)address < pages * SIM_PAGE_SIZE) {
            atomic_store(&entry_pages[k], 0);
        }
    }
}

#if defined(__x86_64__)
static bool entry_is_known(uintptr_t page)
{
    for (uint32_t k = 0; k < ENTRY_PAGES; k++) {
        if (atomic_load(&entry_pages[k]) == page) {
            return true;
        }
    }
    return false;
}

/* A store to a page that is watched: lets it happen, as a single step. */
static void entry_fault(int signal, siginfo_t *info, void *context)
{
    ucontext_t *state = context;
    uintptr_t address = (uintptr_t)info->si_addr;
    uintptr_t page = address & ~(uintptr_t)(SIM_PAGE_SIZE - 1);

    if (!entry_is_known(page)) {
        /* Not ours: the instruction faults once more, and the process dies of it. */
        struct sigaction action = {.sa_handler = SIG_DFL};

        sigaction(signal, &action, NULL);
        return;
    }
    entry_step_page = page;
    entry_step_offset = address - page;
    entry_protect(page, PROT_READ | PROT_WRITE);
    state->uc_mcontext.gregs[REG_EFL] |= ENTRY_TRAP_FLAG;
}

static void entry_die(void)
{
    static const char text[] = "xensim: killed behind a store to a ring's entries\n";

    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
        /* Nothing is lost but the line. */
    }
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

/* The step is done. */
static void entry_stepped(int signal, siginfo_t *info, void *context)
{
    ucontext_t *state = context;

    (void)signal;
    (void)info;
    state->uc_mcontext.gregs[REG_EFL] &= ~ENTRY_TRAP_FLAG;
    if (entry_step_page == 0) {
        return;
    }
    if (entry_step_offset >= ENTRY_RING_HEAD && inject_call(SIM_CALL_entry)) {
        entry_die();
    }
    entry_protect(entry_step_page, PROT_READ);
    entry_step_page = 0;
}

void entry_watch(void)
{
    struct sigaction fault = {.sa_sigaction = entry_fault, .sa_flags = SA_SIGINFO};
    struct sigaction stepped = {.sa_sigaction = entry_stepped, .sa_flags = SA_SIGINFO};

    if (atomic_exchange(&entry_watched, true)) {
        return;
    }
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGTRAP, &stepped, NULL);
    for (uint32_t k = 0; k < ENTRY_PAGES; k++) {
        uintptr_t page = atomic_load(&entry_pages[k]);

        if (page != 0) {
            entry_protect(page, PROT_READ);
        }
    }
}
#else
void entry_watch(void)
{
}
#endif
