/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - gives a fuzz target the inputs that are kept, without libFuzzer
 *
 * usage: NAME-replay [FILE...]      without FILE: all of corpus/NAME and crashes/NAME, as TAP
 *
 * Besides, each input is cut short at a few places and changed in a few bytes, the same ones each
 * time: so even a machine without clang tries more than what is kept. An input that breaks
 * something is left in NAME-failed, for crashes/NAME.
 */
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define FUZZ_DIRECTORY "tests/fuzz"
/* Variations of each input. */
#define REPLAY_VARIATIONS 8u
/* An input is copied to the end of a block of its own, so that a byte too many is noticed. */
#define REPLAY_SEED 2463534242u

static char *failed;
static uint8_t *current;
static gsize current_length;

static void keep(int number)
{
    int fd = open(failed, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd >= 0 && write(fd, current, current_length) == (ssize_t)current_length) {
        close(fd);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void run(const uint8_t *bytes, gsize length)
{
    current = g_malloc(length + 1);
    current_length = length;
    memcpy(current, bytes, length);
    LLVMFuzzerTestOneInput(current, length);
    g_free(current);
}

static void vary(const uint8_t *bytes, gsize length)
{
    g_autoptr(GRand) chance = g_rand_new_with_seed(REPLAY_SEED);
    g_autofree uint8_t *copy = g_malloc(length + 1);

    for (guint i = 0; i < REPLAY_VARIATIONS && length > 0; i++) {
        gsize kept = i % 4 == 0 ? g_rand_int(chance) % length : length;

        memcpy(copy, bytes, length);
        for (guint k = 0; k < 1 + i % 5; k++) {
            copy[g_rand_int(chance) % length] = (uint8_t)g_rand_int(chance);
        }
        run(copy, kept);
    }
}

static void replay_file(gconstpointer path)
{
    g_autofree char *bytes = NULL;
    g_autoptr(GError) error = NULL;
    gsize length = 0;

    g_file_get_contents(path, &bytes, &length, &error);
    g_assert_no_error(error);
    run((const uint8_t *)bytes, length);
    vary((const uint8_t *)bytes, length);
}

static gint compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All files of kind/target, in order. Returns how many. */
static guint add_files(GPtrArray *paths, const char *kind, const char *target)
{
    g_autofree char *path = g_build_filename(FUZZ_DIRECTORY, kind, target, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    guint before = paths->len;
    const char *name;

    while (directory && (name = g_dir_read_name(directory)) != NULL) {
        g_ptr_array_add(paths, g_build_filename(path, name, NULL));
    }
    return paths->len - before;
}

static void test_empty_input(void)
{
    run((const uint8_t *)"", 0);
}

int main(int argc, char **argv)
{
    g_autofree char *target = g_path_get_basename(argv[0]);
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    char *suffix = strstr(target, "-replay");

    if (suffix) {
        *suffix = '\0';
    }
    failed = g_strconcat(target, "-failed", NULL);
    signal(SIGABRT, keep);
    signal(SIGSEGV, keep);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            replay_file(argv[i]);
            printf("%s: fine\n", argv[i]);
        }
    }
    if (argc > 1 && argv[1][0] != '-') {
        return 0;
    }
    g_test_init(&argc, &argv, NULL);
    if (add_files(paths, "corpus", target) == 0) {
        g_printerr("there is no corpus " FUZZ_DIRECTORY "/corpus/%s: run this in the top "
                   "directory of the source\n",
                   target);
        return 1;
    }
    add_files(paths, "crashes", target);
    g_ptr_array_sort(paths, compare);
    g_test_add_func("/fuzz/empty", test_empty_input);
    for (guint i = 0; i < paths->len; i++) {
        const char *path = g_ptr_array_index(paths, i);
        g_autofree char *name = g_strdelimit(g_strdup(path + strlen(FUZZ_DIRECTORY)), " ", '-');

        g_test_add_data_func(name, path, replay_file);
    }
    return g_test_run();
}
