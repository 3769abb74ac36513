/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal-file-test.c - a queue's journal as a file that outlives the process
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "control/journal-file.h"

static char *directory;

static const struct XnJournalIdentity identity = {
    .mac = {0x00, 0x16, 0x3e, 0x01, 0x02, 0x03},
    .domid = 3,
    .devid = 1,
    .queue = 0,
    .guest_tx_ref = 8,
    .guest_rx_ref = 9,
    .guest_tx_evtchn = 17,
    .guest_rx_evtchn = 18,
};

static struct XnJournalFile *create(void)
{
    g_autoptr(GError) error = NULL;
    struct XnJournalFile *file = journal_file_create(directory, &identity, &error);

    g_assert_no_error(error);
    g_assert_nonnull(file);
    return file;
}

static void expect_refusal(const struct XnJournalIdentity *wanted)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(journal_file_open(directory, wanted, &error));
    g_assert_nonnull(error);
}

static void test_what_was_written_is_there_again(void)
{
    struct XnJournalFile *file = create();
    g_autoptr(GError) error = NULL;

    g_assert_cmpuint(journal_file_journal(file)->guest_tx_consumed, ==, 0);
    journal_file_journal(file)->guest_tx_consumed = 77;
    journal_file_journal(file)->guest_rx[255].gref = 5;
    journal_file_close(file, false);
    file = journal_file_open(directory, &identity, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(journal_file_journal(file)->guest_tx_consumed, ==, 77);
    g_assert_cmpuint(journal_file_journal(file)->guest_rx[255].gref, ==, 5);
    journal_file_close(file, true);
}

static void test_new_connection_starts_empty(void)
{
    struct XnJournalFile *file = create();

    journal_file_journal(file)->guest_tx_consumed = 77;
    journal_file_close(file, false);
    file = create();
    g_assert_cmpuint(journal_file_journal(file)->guest_tx_consumed, ==, 0);
    journal_file_close(file, true);
}

static void test_ended_connection_leaves_no_file(void)
{
    journal_file_close(create(), true);
    expect_refusal(&identity);
    g_assert_cmpint(g_rmdir(directory), ==, 0);
    g_assert_cmpint(g_mkdir(directory, 0700), ==, 0);
}

static void test_missing_directory_is_an_error(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(journal_file_create("/nonexistent/directory", &identity, &error));
    g_assert_nonnull(error);
}

static void test_journal_of_another_connection_is_refused(gconstpointer data)
{
    struct XnJournalIdentity other = identity;

    /* any one byte of what is not the file's name */
    ((unsigned char *)&other)[GPOINTER_TO_SIZE(data)] ^= 1;
    journal_file_close(create(), false);
    expect_refusal(&other);
    journal_file_close(create(), true);
}

static void test_file_of_another_size_is_refused(gconstpointer data)
{
    g_autofree char *path = g_strdup_printf("%s/3.1.0", directory);

    journal_file_close(create(), false);
    g_assert_cmpint(truncate(path, GPOINTER_TO_INT(data)), ==, 0);
    expect_refusal(&identity);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

static void test_link_is_refused(void)
{
    g_autofree char *path = g_strdup_printf("%s/3.1.0", directory);
    g_autofree char *target = g_strdup_printf("%s/elsewhere", directory);

    journal_file_close(create(), false);
    g_assert_cmpint(g_rename(path, target), ==, 0);
    g_assert_cmpint(symlink(target, path), ==, 0);
    expect_refusal(&identity);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_unlink(target), ==, 0);
}

static bool knows_domain_3(void *opaque G_GNUC_UNUSED, uint32_t domid, uint32_t devid G_GNUC_UNUSED)
{
    return domid == 3;
}

static void test_journals_of_unknown_vifs_are_deleted(void)
{
    static const char *const names[] = {"4.1.0", "4.1.7", "3.1.0", "notes", "4.1", "4.1.0.1"};
    static const bool stays[] = {false, false, true, true, true, true};

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(directory, names[i], NULL);

        g_assert_true(g_file_set_contents(path, "", 0, NULL));
    }
    journal_file_delete_left(directory, knows_domain_3, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(directory, names[i], NULL);

        g_assert_cmpint(g_file_test(path, G_FILE_TEST_EXISTS), ==, stays[i]);
        g_unlink(path);
    }
}

int main(int argc, char **argv)
{
    static const size_t positions[] = {
        offsetof(struct XnJournalIdentity, mac) + 5,
        offsetof(struct XnJournalIdentity, guest_tx_ref),
        offsetof(struct XnJournalIdentity, guest_rx_ref),
        offsetof(struct XnJournalIdentity, guest_tx_evtchn),
        offsetof(struct XnJournalIdentity, guest_rx_evtchn),
    };
    static const int sizes[] = {0, 1, 4096, 1 << 20};
    int result;

    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("journal-file-test-XXXXXX", NULL);
    g_assert_nonnull(directory);
    g_test_add_func("/control/journal-file/what-was-written-is-there-again",
                    test_what_was_written_is_there_again);
    g_test_add_func("/control/journal-file/new-connection-starts-empty",
                    test_new_connection_starts_empty);
    g_test_add_func("/control/journal-file/ended-connection-leaves-no-file",
                    test_ended_connection_leaves_no_file);
    g_test_add_func("/control/journal-file/missing-directory-is-an-error",
                    test_missing_directory_is_an_error);
    for (size_t i = 0; i < G_N_ELEMENTS(positions); i++) {
        g_autofree char *name = g_strdup_printf(
            "/control/journal-file/journal-of-another-connection-is-refused/%zu", positions[i]);

        g_test_add_data_func(name, GSIZE_TO_POINTER(positions[i]),
                             test_journal_of_another_connection_is_refused);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *name =
            g_strdup_printf("/control/journal-file/file-of-another-size-is-refused/%d", sizes[i]);

        g_test_add_data_func(name, GINT_TO_POINTER(sizes[i]), test_file_of_another_size_is_refused);
    }
    g_test_add_func("/control/journal-file/link-is-refused", test_link_is_refused);
    g_test_add_func("/control/journal-file/journals-of-unknown-vifs-are-deleted",
                    test_journals_of_unknown_vifs_are_deleted);
    result = g_test_run();
    g_rmdir(directory);
    g_free(directory);
    return result;
}
