/* test_claim_notes.c: the file that says which claims were certainly not used */
#include "bus/actor/runtime/claim_notes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SLOT = 64, NOTES = 256 };

static atomic_int syncs, syncs_fail;

int fdatasync(int fd)
{
	atomic_fetch_add(&syncs, 1);
	if (!atomic_load(&syncs_fail))
		return fsync(fd);
	errno = EIO;
	return -1;
}

static struct claim_note note_of(uint64_t seq)
{
	struct claim_note note = { .seq = seq, .version = 1 };

	TEXT_COPY(note.run, "0123456789abcdef0123456789abcdef");
	return note;
}

static int add(struct claim_notes *notes, uint64_t seq)
{
	const struct claim_note note = note_of(seq);

	return claim_notes_add(notes, &note);
}

static void wait_for_sync(struct claim_notes *notes)
{
	struct pollfd polled = { .fd = claim_notes_fd(notes), .events = POLLIN };

	assert_int_equal(poll(&polled, 1, 60000), 1);
	claim_notes_work(notes);
}

static int cross_out(struct claim_notes *notes, int handle)
{
	int r;

	while ((r = claim_notes_cross_out(notes, handle)) == -EINPROGRESS)
		wait_for_sync(notes);
	return r;
}

struct standing {
	int count;
	uint64_t last;
};

static void count_one(const struct claim_note *note, void *context)
{
	struct standing *standing = context;

	assert_string_equal(note->run, "0123456789abcdef0123456789abcdef");
	standing->count++;
	standing->last = note->seq;
}

static struct standing standing_in(const char *path)
{
	struct standing standing = { .count = 0 };
	struct claim_notes *notes;

	assert_int_equal(claim_notes_open(path, &notes), 0);
	claim_notes_each(notes, count_one, &standing);
	claim_notes_free(notes);
	return standing;
}

struct place {
	struct folder folder;
	char path[200];
	struct claim_notes *notes;
};

static void open_place(struct place *place)
{
	place->folder = folder_new();
	FOLDER_PATH(place->path, place->folder, "claims");
	assert_int_equal(claim_notes_open(place->path, &place->notes), 0);
}

/* As a kill leaves it: nothing is tidied. */
static struct standing killed(struct place *place)
{
	claim_notes_free(place->notes);
	return standing_in(place->path);
}

static void a_note_stands_until_it_is_crossed_out(void **state)
{
	struct place place;

	(void)state;
	open_place(&place);
	int first = add(place.notes, 7);
	assert_true(first >= 0 && add(place.notes, 8) >= 0);
	assert_int_equal(cross_out(place.notes, first), 0);
	struct standing standing = killed(&place);
	assert_int_equal(standing.count, 1);
	assert_int_equal(standing.last, 8);
	folder_remove(&place.folder);
}

static void those_that_wait_share_a_sync(void **state)
{
	struct place place;
	int handles[100];

	(void)state;
	open_place(&place);
	atomic_store(&syncs, 0);
	for (int i = 0; i < 100; i++)
		handles[i] = add(place.notes, (uint64_t)i);
	for (int i = 0; i < 100; i++)
		assert_int_equal(claim_notes_cross_out(place.notes, handles[i]), -EINPROGRESS);
	for (int i = 0; i < 100; i++)
		assert_int_equal(cross_out(place.notes, handles[i]), 0);
	assert_int_equal(atomic_load(&syncs), 2); /* the first had begun when the others came */
	assert_int_equal(killed(&place).count, 0);
	folder_remove(&place.folder);
}

static void what_is_tried_again_has_the_same_note(void **state)
{
	struct place place;

	(void)state;
	open_place(&place);
	int first = add(place.notes, 7), again = add(place.notes, 7);
	assert_int_equal(first, again);
	claim_notes_let_go(place.notes, first);
	assert_int_equal(cross_out(place.notes, again), 0);
	claim_notes_let_go(place.notes, again);
	assert_int_equal(add(place.notes, 7), -1); /* crossed out is for good */
	assert_int_equal(killed(&place).count, 0);
	folder_remove(&place.folder);
}

static void what_is_held_is_not_overwritten(void **state)
{
	struct place place;

	(void)state;
	open_place(&place);
	int held = add(place.notes, 7);
	for (uint64_t i = 0; i < 2 * NOTES; i++)
		claim_notes_let_go(place.notes, add(place.notes, 1000 + i));
	assert_int_equal(cross_out(place.notes, held), 0);
	assert_int_equal(killed(&place).count, NOTES - 1);
	folder_remove(&place.folder);
}

static void a_failed_sync_forbids_the_use(void **state)
{
	struct place place;

	(void)state;
	open_place(&place);
	int handle = add(place.notes, 7);
	atomic_store(&syncs_fail, 1);
	assert_int_equal(cross_out(place.notes, handle), -EIO);
	atomic_store(&syncs_fail, 0);
	assert_int_equal(cross_out(place.notes, handle), -EIO);
	assert_int_equal(cross_out(place.notes, add(place.notes, 7)), -EIO);
	assert_int_equal(
		add(place.notes, 8), -1); /* what comes later goes without a note, and is ambiguous if it is killed */
	claim_notes_free(place.notes);
	folder_remove(&place.folder);
}

static void a_failed_write_forbids_the_use(void **state)
{
	struct rlimit before, none;
	struct place place;

	(void)state;
	open_place(&place);
	int handle = add(place.notes, 7);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &none);
	int r = cross_out(place.notes, handle);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(r, -EIO);
	claim_notes_free(place.notes);
	folder_remove(&place.folder);
}

/* ---- files that prove nothing ---- */

static void change_byte(const char *path, off_t at)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void copy(const char *path)
{
	_cleanup_(buffer_free) struct buffer bytes = { 0 };

	assert_int_equal(file_read(path, 1 << 20, &bytes), 0);
	assert_int_equal(file_write_durably(path, buffer_bytes(&bytes), 0600), 0); /* another file in its place */
}

static void tear_slot(const char *path)
{
	change_byte(path, SLOT + 40);
}

static void tear_header(const char *path)
{
	change_byte(path, 20);
}

static void cut_short(const char *path)
{
	assert_int_equal(truncate(path, SLOT * NOTES), 0);
}

static void lose(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void a_note_that_is_torn_copied_or_lost_proves_nothing(void **state)
{
	void (*const harms[])(const char *path) = { copy, tear_slot, tear_header, cut_short, lose };

	(void)state;
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		struct place place;

		open_place(&place);
		assert_true(add(place.notes, 7) >= 0);
		claim_notes_free(place.notes);
		assert_int_equal(standing_in(place.path).count, 1);
		harms[i](place.path);
		assert_int_equal(standing_in(place.path).count, 0);
		assert_int_equal(claim_notes_open(place.path, &place.notes), 0);
		assert_true(add(place.notes, 9) >= 0);
		assert_int_equal(killed(&place).last, 9);
		folder_remove(&place.folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_stands_until_it_is_crossed_out),
		cmocka_unit_test(those_that_wait_share_a_sync),
		cmocka_unit_test(what_is_tried_again_has_the_same_note),
		cmocka_unit_test(what_is_held_is_not_overwritten),
		cmocka_unit_test(a_failed_sync_forbids_the_use),
		cmocka_unit_test(a_failed_write_forbids_the_use),
		cmocka_unit_test(a_note_that_is_torn_copied_or_lost_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
