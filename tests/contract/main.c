/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the contract suite: what qnetback relies on of grants, event channels and xenstore.
 *
 * Uses the real libraries' interfaces only, so that the same program runs on a simulated host and
 * in a real Xen dom0: the simulator is to be trusted as far as both give the same results.
 *
 * usage: contract [--peer COMMAND]
 *
 * COMMAND, for sh, runs this program with --serve in another domain, with its file descriptors kept
 * ("xensim as 1 contract --serve").  Without it the peer is a second process of the same domain,
 * and what needs two domains is skipped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xenstore.h>

#include "contract.h"
#include "tap.h"

uint16_t contract_domid;

static void read_own_domid(void)
{
    struct xs_handle *store = xs_open(0);
    unsigned length;
    char *text = store ? xs_read(store, XBT_NULL, "domid", &length) : NULL;

    if (!text) {
        tap_bail_out("cannot read 'domid' from xenstore: %s", strerror(errno));
    }
    contract_domid = (uint16_t)atoi(text);
    free(text);
    xs_close(store);
}

static char *own_peer_command(void)
{
    static char command[4200];
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length < 0) {
        tap_bail_out("readlink /proc/self/exe: %s", strerror(errno));
    }
    path[length] = '\0';
    snprintf(command, sizeof(command), "exec '%s' --serve", path);
    return command;
}

int main(int argc, char **argv)
{
    const char *command;
    struct Peer *peer;

    setvbuf(stdout, NULL, _IOLBF, 0);
    read_own_domid();
    if (argc == 2 && strcmp(argv[1], "--serve") == 0) {
        return peer_serve(3);
    }
    if (argc != 1 && !(argc == 3 && strcmp(argv[1], "--peer") == 0)) {
        fputs("usage: contract [--peer COMMAND]\n", stderr);
        return 2;
    }
    command = argc == 3 ? argv[2] : own_peer_command();
    peer = peer_start(command);
    tap_note("domain %u, the peer is domain %u", contract_domid, peer->domid);
    test_grant_copy(peer);
    test_grant_map(peer);
    test_evtchn(peer, command);
    test_store(peer);
    peer_kill(peer);
    return tap_done();
}
