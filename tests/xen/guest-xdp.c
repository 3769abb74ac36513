/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-xdp.c - attaches an XDP program to a network interface of a guest, and counts
 *
 *   guest-xdp pass|check INTERFACE
 *
 * "pass" passes every frame. "check" counts them too, and compares each IPv4 frame's length with
 * the one in its header: a back end that counts the headroom as part of the frame leaves junk
 * behind it. The program is loaded into the driver itself, so that the kernel cannot fall back to
 * its generic XDP, which asks nothing of the back end. It is made of instructions written by hand:
 * no compiler for BPF is needed, and no library.
 *
 * Says "attached" and stays until SIGTERM or SIGINT; then prints "frames N bytes N wrong N" and
 * exits. The program goes with the process.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct Counts {
    uint64_t frames;
    uint64_t bytes;
    uint64_t wrong;
};

/* Offsets in an Ethernet frame with IPv4. */
#define ETHERNET_HEADER 14
#define ETHERTYPE_OFFSET 12
#define ETHERTYPE_IPV4 0x0800
#define IPV4_LENGTH_OFFSET 16
#define IPV4_END 34

/* clang-format off */
#define INSN(operation, destination, source, offset, immediate) \
    ((struct bpf_insn){.code = (operation), .dst_reg = (destination), .src_reg = (source), \
                       .off = (offset), .imm = (immediate)})
#define SET(to, value)             INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define MOVE(to, from)             INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define ADD(to, value)             INSN(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value)
#define SUBTRACT(to, from)         INSN(BPF_ALU64 | BPF_SUB | BPF_X, to, from, 0, 0)
#define LOAD(width, to, from, at)  INSN(BPF_LDX | BPF_MEM | (width), to, from, at, 0)
#define STORE(width, to, at, from) INSN(BPF_STX | BPF_MEM | (width), to, from, at, 0)
#define ATOMIC_ADD(to, at, from)   INSN(BPF_STX | BPF_ATOMIC | BPF_DW, to, from, at, BPF_ADD)
#define FROM_BIG_ENDIAN_16(what)   INSN(BPF_ALU | BPF_END | BPF_TO_BE, what, 0, 0, 16)
#define CALL(function)             INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define SKIP_IF_GREATER(a, b, n)   INSN(BPF_JMP | BPF_JGT | BPF_X, a, b, n, 0)
#define SKIP_IF_SAME(a, b, n)      INSN(BPF_JMP | BPF_JEQ | BPF_X, a, b, n, 0)
#define SKIP_IF_NOT(a, value, n)   INSN(BPF_JMP | BPF_JNE | BPF_K, a, 0, n, value)
#define SKIP_IF(a, value, n)       INSN(BPF_JMP | BPF_JEQ | BPF_K, a, 0, n, value)
#define EXIT                       INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* two instructions wide */
#define MAP_ADDRESS(to, fd)        INSN(BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, fd), \
                                   INSN(0, 0, 0, 0, 0)
/* clang-format on */

static volatile sig_atomic_t ended;

static void fail(const char *what)
{
    fprintf(stderr, "guest-xdp: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int bpf(enum bpf_cmd command, union bpf_attr *attribute)
{
    return (int)syscall(SYS_bpf, command, attribute, sizeof(*attribute));
}

static int map_create(void)
{
    union bpf_attr attribute = {.map_type = BPF_MAP_TYPE_ARRAY,
                                .key_size = sizeof(uint32_t),
                                .value_size = sizeof(struct Counts),
                                .max_entries = 1};
    int fd = bpf(BPF_MAP_CREATE, &attribute);

    if (fd < 0) {
        fail("cannot create a map");
    }
    return fd;
}

static struct Counts map_counts(int map)
{
    struct Counts counts = {0};
    uint32_t key = 0;
    union bpf_attr attribute = {
        .map_fd = (uint32_t)map, .key = (uintptr_t)&key, .value = (uintptr_t)&counts};

    if (bpf(BPF_MAP_LOOKUP_ELEM, &attribute) < 0) {
        fail("cannot read the map");
    }
    return counts;
}

static int program_load(const struct bpf_insn *instructions, size_t count)
{
    static char log[65536];
    union bpf_attr attribute = {.prog_type = BPF_PROG_TYPE_XDP,
                                .insns = (uintptr_t)instructions,
                                .insn_cnt = (uint32_t)count,
                                .license = (uintptr_t) "GPL",
                                .log_buf = (uintptr_t)log,
                                .log_size = sizeof(log),
                                .log_level = 1};
    int fd = bpf(BPF_PROG_LOAD, &attribute);

    if (fd < 0) {
        fprintf(stderr, "%s\n", log);
        fail("cannot load the program");
    }
    return fd;
}

static int program_pass(void)
{
    const struct bpf_insn instructions[] = {SET(BPF_REG_0, XDP_PASS), EXIT};

    return program_load(instructions, sizeof(instructions) / sizeof(instructions[0]));
}

/* r6 is the frame's length, r7 whether it is wrong. */
static int program_check(int map)
{
    const struct bpf_insn instructions[] = {
        LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data)),
        LOAD(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end)),
        MOVE(BPF_REG_6, BPF_REG_3),
        SUBTRACT(BPF_REG_6, BPF_REG_2),
        SET(BPF_REG_7, 0),
        MOVE(BPF_REG_4, BPF_REG_2),
        ADD(BPF_REG_4, IPV4_END),
        SKIP_IF_GREATER(BPF_REG_4, BPF_REG_3, 8),
        LOAD(BPF_H, BPF_REG_5, BPF_REG_2, ETHERTYPE_OFFSET),
        FROM_BIG_ENDIAN_16(BPF_REG_5),
        SKIP_IF_NOT(BPF_REG_5, ETHERTYPE_IPV4, 5),
        LOAD(BPF_H, BPF_REG_5, BPF_REG_2, IPV4_LENGTH_OFFSET),
        FROM_BIG_ENDIAN_16(BPF_REG_5),
        ADD(BPF_REG_5, ETHERNET_HEADER),
        SKIP_IF_SAME(BPF_REG_5, BPF_REG_6, 1),
        SET(BPF_REG_7, 1),
        SET(BPF_REG_0, 0),
        STORE(BPF_W, BPF_REG_10, -4, BPF_REG_0),
        MOVE(BPF_REG_2, BPF_REG_10),
        ADD(BPF_REG_2, -4),
        MAP_ADDRESS(BPF_REG_1, map),
        CALL(BPF_FUNC_map_lookup_elem),
        SKIP_IF(BPF_REG_0, 0, 4),
        SET(BPF_REG_1, 1),
        ATOMIC_ADD(BPF_REG_0, offsetof(struct Counts, frames), BPF_REG_1),
        ATOMIC_ADD(BPF_REG_0, offsetof(struct Counts, bytes), BPF_REG_6),
        ATOMIC_ADD(BPF_REG_0, offsetof(struct Counts, wrong), BPF_REG_7),
        SET(BPF_REG_0, XDP_PASS),
        EXIT,
    };

    return program_load(instructions, sizeof(instructions) / sizeof(instructions[0]));
}

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_signal};
    union bpf_attr attribute = {0};
    struct Counts counts;
    sigset_t blocked, before;
    unsigned interface;
    int map, program;
    bool check;

    if (argc != 3 || (strcmp(argv[1], "pass") != 0 && strcmp(argv[1], "check") != 0)) {
        fprintf(stderr, "usage: guest-xdp pass|check INTERFACE\n");
        return 2;
    }
    check = strcmp(argv[1], "check") == 0;
    interface = if_nametoindex(argv[2]);
    if (interface == 0) {
        fail(argv[2]);
    }
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);

    map = map_create();
    program = check ? program_check(map) : program_pass();
    attribute.link_create.prog_fd = (uint32_t)program;
    attribute.link_create.target_ifindex = interface;
    attribute.link_create.attach_type = BPF_XDP;
    attribute.link_create.flags = XDP_FLAGS_DRV_MODE;
    if (bpf(BPF_LINK_CREATE, &attribute) < 0) {
        fail("cannot attach the program");
    }
    puts("attached");
    fflush(stdout);
    while (!ended) {
        sigsuspend(&before);
    }
    counts = map_counts(map);
    printf("frames %llu bytes %llu wrong %llu\n", (unsigned long long)counts.frames,
           (unsigned long long)counts.bytes, (unsigned long long)counts.wrong);
    return EXIT_SUCCESS;
}
