/*
 * log_identity.c: the log's identity, and the check of its memory against that of its peers
 *
 * Owns:      in family meta: log (its identity, made once), origin (that of the first log that it was
 *            restored from), boot/<n> (its n-th opening: where the head stood, and a random number beside n,
 *            so that two copies do not open alike), forgotten (what a peer remembers and this log does not
 *            hold).
 * Promises:  a peer's memory, the highest number and the opening in which the peer learnt it, suffices to
 *            detect a log whose end was lost, even after it has grown again, and a log that is an older copy
 *            of itself. Once detected, every opening refuses the log, until it gets a new identity: then
 *            every peer that knew the old one refuses it.
 * Read next: hello.c (the caller), recover.c (opening)
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/log/log_state.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char BOOT[] = "boot/", FORGOTTEN[] = "forgotten", IDENTITY[] = "log", ORIGIN[] = "origin";

enum { BOOT_KEY_LEN = sizeof(BOOT) - 1 + 8, BOOT_ROW_LEN = 16 }; /* the head, the opening */

DEFINE_CLEANUP(struct store_batch *, store_batch_free)

static void boot_key(uint64_t boot, uint8_t key[BOOT_KEY_LEN])
{
	memcpy(key, BOOT, sizeof(BOOT) - 1);
	put_be64(key + sizeof(BOOT) - 1, boot);
}

void log_identity_open(struct log *log)
{
	char random[33];

	text_random_name(random);
	random[8] = '\0';
	log->opening = ++log->boots << 32 | strtoul(random, NULL, 16);
}

void log_identity_write(const struct log *log, struct store_batch *batch)
{
	uint8_t key[BOOT_KEY_LEN], row[BOOT_ROW_LEN];

	boot_key(log->boots, key);
	put_be64(row, log->head);
	put_be64(row + 8, log->opening);
	store_batch_put(batch, FAMILY_META, BYTES(key, sizeof(key)), BYTES(row, sizeof(row)));
	store_batch_put(batch, FAMILY_META, bytes_of(IDENTITY), bytes_of(log->id));
	store_batch_put(batch, FAMILY_META, bytes_of(ORIGIN), bytes_of(log_origin(log)));
}

const char *log_origin(const struct log *log)
{
	return *log->origin ? log->origin : log->id;
}

static int read_origin(struct store *store, char ret[40])
{
	_cleanup_(buffer_free) struct buffer origin = { 0 };
	int r = store_get(store, FAMILY_META, bytes_of(ORIGIN), &origin);

	if (r == 0 && !text_copy_bytes(ret, 40, buffer_bytes(&origin)))
		r = -EUCLEAN;
	return r == -ENOENT ? 0 : r;
}

/* Reads the row of the n-th opening; false: there is none. */
static bool read_boot(struct log *log, uint64_t boot, uint64_t *ret_head, uint64_t *ret_opening)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	uint8_t key[BOOT_KEY_LEN];

	boot_key(boot, key);
	if (store_get(log->store, FAMILY_META, BYTES(key, sizeof(key)), &row) < 0 || row.len != BOOT_ROW_LEN)
		return false;
	*ret_head = get_be64(row.data);
	*ret_opening = get_be64(row.data + 8);
	return true;
}

bool log_forgot(struct log *log, uint64_t remembered, uint64_t opening, char ret_why[256])
{
	uint64_t boot = opening >> 32, head, known;

	if (remembered > log->head)
		snprintf(ret_why, 256, "the log ends at message %llu, and message %llu of it was confirmed",
			(unsigned long long)log->head, (unsigned long long)remembered);
	else if (boot > log->boots || (opening > 0 && (!read_boot(log, boot, &head, &known) || known != opening)))
		snprintf(ret_why, 256,
			"the log is an older copy of itself: somebody saw it opened for the %lluth time, and this one "
			"was not",
			(unsigned long long)boot);
	else if (opening > 0 && read_boot(log, boot + 1, &head, &known) && remembered > head)
		snprintf(ret_why, 256,
			"the log lost its end once and has grown since: a restart found message %llu the last, and "
			"message %llu had been confirmed",
			(unsigned long long)head, (unsigned long long)remembered);
	else
		return false;
	return true;
}

void log_mark_forgotten(struct log *log, const char *why)
{
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(log->store);

	store_batch_put(batch, FAMILY_META, bytes_of(FORGOTTEN), bytes_of(why));
	store_commit(log->store, batch, true); /* if this fails, the peer is still there to say it again */
}

int log_identity_read(struct log *log, char why[512])
{
	_cleanup_(buffer_free) struct buffer id = { 0 };
	_cleanup_(buffer_free) struct buffer forgotten = { 0 };
	int r = store_get(log->store, FAMILY_META, bytes_of(IDENTITY), &id);

	if (r < 0 || !text_copy_bytes(log->id, sizeof(log->id), buffer_bytes(&id)))
		return r == 0 ? -EUCLEAN : r;
	r = read_origin(log->store, log->origin);
	if (r < 0)
		return r;
	r = store_get(log->store, FAMILY_META, bytes_of(FORGOTTEN), &forgotten);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		snprintf(why, 512,
			"%.300s. Put the newest state folder of the broker back; if it is gone for good, see "
			"cartbus-broker --new-identity",
			buffer_text(&forgotten));
	return r < 0 ? r : -EUCLEAN;
}

int log_new_identity(struct store *store, char ret_before[40], char ret_id[40])
{
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	_cleanup_(buffer_free) struct buffer before = { 0 };
	char origin[40] = "";
	int r = store_get(store, FAMILY_META, bytes_of(IDENTITY), &before);

	if (r == 0)
		r = read_origin(store, origin);
	if (r < 0)
		return r;
	text_copy(ret_before, 40, buffer_text(&before));
	store_batch_put(batch, FAMILY_META, bytes_of(ORIGIN), bytes_of(*origin ? origin : ret_before));
	text_random_name(ret_id);
	store_batch_put(batch, FAMILY_META, bytes_of(IDENTITY), bytes_of(ret_id));
	store_batch_delete(batch, FAMILY_META, bytes_of(FORGOTTEN));
	store_batch_put(
		batch, FAMILY_META, bytes_of(CLAIMS_HELD), bytes_of("1")); /* it may have forgotten what was mailed */
	return store_commit(store, batch, true);
}
