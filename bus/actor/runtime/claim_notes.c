/*
 * claim_notes.c: records which claims of this instance have certainly not been used
 *
 * Owns:      the file, its descriptor, the thread that syncs it. A header that ties it to this machine and
 *            this very file, then NOTES slots of a fixed size with a sum each; they are used in turn, so that
 *            old ones stay readable for a while.
 * Promises:  a note that was ever written stands on the disk or is crossed out there before its claim is
 *            used; notes that are crossed out at the same time share a sync. A copy of the file, on this
 *            machine or another, counts for nothing.
 * Fails by:  no more notes until the next start once the file could not be written or synced: a claim whose
 *            note was being crossed out is not used, later claims go without a note. Never by guessing.
 * Read next: effects.c (when notes are made and crossed out), delivery.c (reports of the next run)
 */
#include "bus/actor/runtime/claim_notes.h"
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/syncer.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTES = 256, SLOT_LEN = 64, SUM_AT = SLOT_LEN - 8, RUN_LEN = 33, FILE_LEN = SLOT_LEN * (NOTES + 1) };
static const char MAGIC[8] = "claims1";
enum { STANDS = 'S', CROSSED = 'X' }; /* in the file; any other byte: nothing is known */

enum phase {
	PHASE_FREE,
	PHASE_STANDS,
	PHASE_CROSSING, /* written, waits for the next sync */
	PHASE_SYNCING,
	PHASE_CROSSED,
	PHASE_FAILED
};

struct slot {
	struct claim_note note;
	enum phase phase;
	int holders; /* of its handle */
};

struct claim_notes {
	int fd;                /* -1: in memory */
	struct syncer *syncer; /* NULL: in memory */
	struct syncing round;
	bool round_runs, broken;
	unsigned next;
	struct slot slots[NOTES];
};

/* --- bytes --- */

static void seal(uint8_t raw[SLOT_LEN])
{
	put_be64(raw + SUM_AT, text_hash(BYTES(raw, SUM_AT)));
}

static bool is_sealed(const uint8_t raw[SLOT_LEN])
{
	return get_be64(raw + SUM_AT) == text_hash(BYTES(raw, SUM_AT));
}

static void write_slot(const struct claim_note *note, uint8_t state, uint8_t ret[SLOT_LEN])
{
	memset(ret, 0, SLOT_LEN);
	ret[0] = state;
	memcpy(ret + 1, note->run, RUN_LEN);
	put_be64(ret + 1 + RUN_LEN, note->seq);
	put_be64(ret + 1 + RUN_LEN + 8, note->version);
	seal(ret);
}

static void read_slot(const uint8_t raw[SLOT_LEN], struct slot *ret)
{
	if (!is_sealed(raw) || (raw[0] != STANDS && raw[0] != CROSSED) || raw[RUN_LEN] != 0)
		return;
	ret->phase = raw[0] == STANDS ? PHASE_STANDS : PHASE_CROSSED;
	memcpy(ret->note.run, raw + 1, RUN_LEN);
	ret->note.seq = get_be64(raw + 1 + RUN_LEN);
	ret->note.version = get_be64(raw + 1 + RUN_LEN + 8);
}

/* The header names the file: a copy has another inode number. */
static int write_header(int fd, uint8_t ret[SLOT_LEN])
{
	_cleanup_(buffer_free) struct buffer machine = { 0 };
	struct stat found;

	if (fstat(fd, &found) < 0)
		return -errno;
	memset(ret, 0, SLOT_LEN);
	memcpy(ret, MAGIC, sizeof(MAGIC));
	put_be64(ret + 8, found.st_ino);
	if (file_read("/etc/machine-id", 64, &machine) == 0)
		put_be64(ret + 16, text_hash(buffer_bytes(&machine)));
	seal(ret);
	return 0;
}

/* --- the file --- */

/* Writes every block now: later writes need no room and move no block. */
static int fill(int fd)
{
	uint8_t raw[FILE_LEN] = { 0 };
	int r = write_header(fd, raw);

	if (r == 0)
		r = file_write(fd, BYTES(raw, sizeof(raw)));
	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

static int begin_anew(const char *path, int *ret_fd)
{
	char temporary[PATH_MAX], folder[PATH_MAX];

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	TEXT_COPY(folder, path);
	*strrchr(folder, '/') = 0;
	int fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	int r = fill(fd);
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r == 0)
		r = file_sync_folder(folder);
	if (r < 0)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

/* false: the file is missing, damaged, or a copy from another place. */
static bool read_notes(const char *path, struct claim_notes *notes)
{
	_cleanup_(buffer_free) struct buffer raw = { 0 };
	uint8_t header[SLOT_LEN];
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return false;
	if (file_read(path, FILE_LEN, &raw) < 0 || raw.len != FILE_LEN || write_header(fd, header) < 0 ||
		memcmp(raw.data, header, SLOT_LEN) != 0) {
		log_event(LOG_WARNING,
			"%s is another's, or damaged: of claims that an earlier run left behind it is not known "
			"whether they were used",
			path);
		return false;
	}
	for (int i = 0; i < NOTES; i++)
		read_slot(raw.data + SLOT_LEN * (i + 1), &notes->slots[i]);
	notes->fd = fd;
	fd = -1;
	return true;
}

static struct claim_notes *new_notes(void)
{
	struct claim_notes *notes = memory_new(sizeof(*notes));

	notes->fd = -1;
	return notes;
}

int claim_notes_open(const char *path, struct claim_notes **ret)
{
	struct claim_notes *notes = new_notes();

	assert(strchr(path, '/'));
	if (!read_notes(path, notes)) {
		int r = begin_anew(path, &notes->fd);
		if (r < 0) {
			free(notes);
			return r;
		}
	}
	notes->syncer = syncer_new();
	*ret = notes;
	return 0;
}

struct claim_notes *claim_notes_new_in_memory(void)
{
	return new_notes();
}

void claim_notes_free(struct claim_notes *notes)
{
	if (!notes)
		return;
	if (notes->round_runs)
		syncer_wait(notes->syncer);
	syncer_free(notes->syncer);
	if (notes->fd >= 0)
		close(notes->fd);
	free(notes);
}

static void give_up(struct claim_notes *notes, int error)
{
	if (!notes->broken)
		log_event(LOG_ERROR,
			"notes about claims cannot be kept: %s; check the disk, then restart this process: until then "
			"what it is at when it is killed is ambiguous",
			strerror(error));
	notes->broken = true;
}

static bool put(struct claim_notes *notes, const struct slot *slot, uint8_t state)
{
	const off_t at = SLOT_LEN * (slot - notes->slots + 1);
	uint8_t raw[SLOT_LEN];

	if (notes->fd < 0)
		return true;
	write_slot(&slot->note, state, raw);
	ssize_t written = pwrite(notes->fd, raw, sizeof(raw), at);
	if (written == (ssize_t)sizeof(raw))
		return true;
	give_up(notes, written < 0 ? errno : EIO);
	return false;
}

/* --- notes --- */

static bool is_same(const struct claim_note *a, const struct claim_note *b)
{
	return a->seq == b->seq && a->version == b->version && strcmp(a->run, b->run) == 0;
}

static struct slot *find(struct claim_notes *notes, const struct claim_note *note)
{
	for (struct slot *slot = notes->slots; slot < notes->slots + NOTES; slot++)
		if (slot->phase != PHASE_FREE && is_same(&slot->note, note))
			return slot;
	return NULL;
}

static struct slot *take_next(struct claim_notes *notes)
{
	for (int tries = 0; tries < NOTES; tries++) {
		struct slot *slot = &notes->slots[notes->next++ % NOTES];

		if (slot->holders == 0 && slot->phase != PHASE_CROSSING && slot->phase != PHASE_SYNCING)
			return slot;
	}
	return NULL;
}

/* NULL: the claim goes without a note. */
static struct slot *make(struct claim_notes *notes, const struct claim_note *note)
{
	struct slot *slot = notes->broken ? NULL : take_next(notes);

	if (!slot)
		return NULL;
	slot->note = *note;
	slot->phase = put(notes, slot, STANDS) ? PHASE_STANDS : PHASE_FREE;
	return slot->phase == PHASE_STANDS ? slot : NULL;
}

/*
 * A retry under the same name shares the note, so that no note stands for a used claim; a crossed-out note
 * never comes back.
 */
int claim_notes_add(struct claim_notes *notes, const struct claim_note *note)
{
	struct slot *slot = find(notes, note);

	if (!slot)
		slot = make(notes, note);
	if (!slot || slot->phase == PHASE_CROSSED)
		return -1;
	slot->holders++;
	return (int)(slot - notes->slots);
}

static void each_in(struct claim_notes *notes, enum phase from, enum phase to)
{
	for (struct slot *slot = notes->slots; slot < notes->slots + NOTES; slot++)
		if (slot->phase == from)
			slot->phase = to;
}

static void begin_round(struct claim_notes *notes)
{
	int fd = fcntl(notes->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0) {
		give_up(notes, errno);
		each_in(notes, PHASE_CROSSING, PHASE_FAILED);
		return;
	}
	each_in(notes, PHASE_CROSSING, PHASE_SYNCING);
	notes->round_runs = true;
	syncer_begin_data(notes->syncer, &notes->round, fd);
	syncer_hand_over(notes->syncer);
}

static void cross_out(struct claim_notes *notes, struct slot *slot)
{
	if (!put(notes, slot, CROSSED))
		slot->phase = PHASE_FAILED;
	else
		slot->phase = notes->fd < 0 ? PHASE_CROSSED : PHASE_CROSSING;
	if (slot->phase == PHASE_CROSSING && !notes->round_runs)
		begin_round(notes);
}

int claim_notes_cross_out(struct claim_notes *notes, int handle)
{
	struct slot *slot = &notes->slots[handle];

	assert(slot->holders > 0);
	if (slot->phase == PHASE_STANDS)
		cross_out(notes, slot);
	switch (slot->phase) {
	case PHASE_CROSSED:
		return 0;
	case PHASE_CROSSING:
	case PHASE_SYNCING:
		return -EINPROGRESS;
	case PHASE_FREE:
	case PHASE_STANDS:
	case PHASE_FAILED:
		break;
	}
	return -EIO;
}

void claim_notes_let_go(struct claim_notes *notes, int handle)
{
	if (handle >= 0)
		notes->slots[handle].holders--;
}

void claim_notes_each(const struct claim_notes *notes, claim_notes_each_fn *each, void *context)
{
	for (const struct slot *slot = notes->slots; slot < notes->slots + NOTES; slot++)
		if (slot->phase == PHASE_STANDS)
			each(&slot->note, context);
}

int claim_notes_fd(const struct claim_notes *notes)
{
	return notes->syncer ? syncer_fd(notes->syncer) : -1;
}

static bool any_crossing(const struct claim_notes *notes)
{
	for (const struct slot *slot = notes->slots; slot < notes->slots + NOTES; slot++)
		if (slot->phase == PHASE_CROSSING)
			return true;
	return false;
}

void claim_notes_work(struct claim_notes *notes)
{
	if (!notes->round_runs || !syncer_next(notes->syncer))
		return;
	notes->round_runs = false;
	if (notes->round.result < 0)
		give_up(notes, -notes->round.result);
	each_in(notes, PHASE_SYNCING, notes->round.result < 0 ? PHASE_FAILED : PHASE_CROSSED);
	if (any_crossing(notes))
		begin_round(notes);
}

/*
 * --- the runtime's side of notes about claims ---
 *
 * Promises:  claims that an earlier run of this instance certainly did not use are reported before anything
 *            is decided, every decision sees that from the first one on, and the report is repeated until it
 *            is confirmed.
 */

static void say_one(const struct claim_note *note, void *context)
{
	static const struct message_meta nothing = {
		.topic = "", .shop = "", .key = "", .idem = "", .trace = "", .said_by = ""
	};
	struct runtime *runtime = context;
	struct turn turn = runtime_open_turn(runtime, &nothing);

	runtime->service->unused(&turn, note);
	turn_publish_outcomes(runtime, &turn);
}

void notes_publish_unused(struct runtime *runtime)
{
	if (runtime->effects.notes)
		claim_notes_each(runtime->effects.notes, say_one, runtime);
}

int notes_add(struct runtime *runtime, uint64_t seq, struct bytes claim)
{
	struct claim_note note = { .seq = seq };
	Envelope envelope;
	struct bytes payload;

	if (!runtime->effects.notes || message_read(claim, &envelope, &payload) < 0)
		return -1;
	TEXT_COPY(note.run, runtime->run);
	note.version = envelope.version;
	return claim_notes_add(runtime->effects.notes, &note);
}
