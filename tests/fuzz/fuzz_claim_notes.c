/*
 * fuzz_claim_notes.c: whatever a damaged file of claim notes holds, what is read of it are notes, and new ones are made and crossed out
 *
 * The file is one that this very place made, so that its header is believed. The input overwrites what comes behind the header; the
 * first byte says whether each slot gets the sum that belongs to it, as no damage would.
 */
#include "bus/actor/runtime/claim_notes.h"
#include "bus/base/bytes.h"
#include "bus/base/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { SLOT = 64, SUM_AT = SLOT - 8, NOTES = 256 };

static const struct claim_note fresh = { .run = "0123456789abcdef0123456789abcdef", .seq = 7, .version = 9 };

struct looked {
	int count, fresh;
};

static void look(const struct claim_note *note, void *context)
{
	struct looked *looked = context;

	MUST(memchr(note->run, 0, sizeof(note->run)));
	looked->count++;
	looked->fresh += strcmp(note->run, fresh.run) == 0 && note->seq == fresh.seq && note->version == fresh.version;
}

static void overwrite(const char *path, const uint8_t *data, size_t size, bool sealed)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	uint8_t slot[SLOT] = { 0 };

	MUST(fd >= 0);
	for (size_t at = 0, n = 0; at < size && n < NOTES; at += SUM_AT, n++) {
		size_t len = size - at < SUM_AT ? size - at : SUM_AT;

		memset(slot, 0, sizeof(slot));
		memcpy(slot, data + at, len);
		put_be64(slot + SUM_AT, sealed ? text_hash(BYTES(slot, SUM_AT)) : 0);
		MUST(pwrite(fd, slot, sizeof(slot), (off_t)((n + 1) * SLOT)) == SLOT);
	}
	close(fd);
}

/* 0: it is crossed out on the disk. */
static int cross_out(struct claim_notes *notes, int handle)
{
	struct pollfd polled = { .fd = claim_notes_fd(notes), .events = POLLIN };
	int r;

	while ((r = claim_notes_cross_out(notes, handle)) == -EINPROGRESS) {
		MUST(poll(&polled, 1, 10000) == 1 || errno == EINTR); /* libFuzzer's own clock */
		claim_notes_work(notes);
	}
	return r;
}

static struct looked open_and_look(const char *path, struct claim_notes **ret)
{
	struct looked looked = { 0 };

	MUST(claim_notes_open(path, ret) == 0);
	claim_notes_each(*ret, look, &looked);
	MUST(looked.count <= NOTES);
	return looked;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[] = "/dev/shm/fuzz-claim-notes-XXXXXX", path[64]; /* in memory: a sync takes no time */
	struct claim_notes *notes;
	struct looked before;
	int handle;

	if (size < 1)
		return 0;
	if (!*path) {
		folder_make(folder);
		snprintf(path, sizeof(path), "%s/notes", folder);
	}
	open_and_look(path, &notes);
	claim_notes_free(notes);
	overwrite(path, data + 1, size - 1, data[0] % 2);
	before = open_and_look(path, &notes);
	handle = claim_notes_add(notes, &fresh);
	if (handle >= 0) {
		MUST(cross_out(notes, handle) == 0);
		claim_notes_let_go(notes, handle);
	}
	claim_notes_free(notes);
	if (handle >= 0 && before.fresh == 0) {
		MUST(open_and_look(path, &notes).fresh == 0);
		claim_notes_free(notes);
	}
	unlink(path);
	return 0;
}
