/*
 * session.c: the table of sessions
 *
 * Owns:      the sessions, by the hash of their ids, and their file.
 * Promises:  a session that has ended is not found again in this process. Its end is in the file when the function that ended
 *            it returned 0. Nobody who has only a password can end another session: sessions that wait for a code are
 *            counted apart.
 * Fails by:  a negative errno of writing the file; what is in memory holds all the same.
 * Read next: session_file.c
 */
#include "services/console/people/session.h"

#include "bus/base/file.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/console/people/session_file.h"
#include "services/kit/keys/hmac.h"
#include <errno.h>
#include <libgen.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { ID_LEN = 32 };
_Static_assert(SESSION_HASH_LEN == SHA256_DIGEST_LENGTH, "what is kept of an id");

#define SEEN_EACH_US US_PER_MINUTE
/* A session of the future: the clock was set back, and nobody knows how old the session is. */
#define FUTURE_US (5 * US_PER_MINUTE)

/* OWASP's cheat sheet on session management: 15 to 30 minutes without activity where little is at risk; an office day. */
const struct session_times session_times_usual = {
	.idle_us = 8 * US_PER_HOUR,
	.most_us = 7 * US_PER_DAY,
	.idle_admin_us = 30 * US_PER_MINUTE,
	.most_admin_us = 12 * US_PER_HOUR,
	.idle_stay_us = 7 * US_PER_DAY,
	.most_stay_us = 30 * US_PER_DAY,
	.step_us = 10 * US_PER_MINUTE,
	.fresh_us = 5 * US_PER_MINUTE,
};

struct entry {
	struct session_row row;
	struct list hook;
};

struct sessions {
	char *path;
	struct people *people;
	struct buffer key;
	const struct clock *clock;
	struct session_times times;
	struct map *by_hash;
	struct list all;          /* in the order of their start */
	bool is_changed, is_seen; /* since the last write; `is_seen`: only when they were last seen */
	int64_t written_us;
};

/* ---- ids ---- */

void session_new_id(char ret[SESSION_ID_ROOM])
{
	uint8_t random[ID_LEN];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		die("the kernel gives no random numbers");
	text_hex(random, sizeof(random), ret);
	OPENSSL_cleanse(random, sizeof(random));
}

static void hash_id(const char *id, uint8_t ret[SESSION_HASH_LEN])
{
	SHA256((const uint8_t *)id, strlen(id), ret);
}

static struct bytes hash_bytes(const struct entry *entry)
{
	return BYTES(entry->row.hash, sizeof(entry->row.hash));
}

static void set_id(struct sessions *sessions, struct entry *entry, char ret_id[SESSION_ID_ROOM])
{
	session_new_id(ret_id);
	hash_id(ret_id, entry->row.hash);
	text_hex(entry->row.hash, (SESSION_SHORT_ROOM - 1) / 2, entry->row.session.short_id);
	map_put(sessions->by_hash, hash_bytes(entry), entry);
}

static struct entry *entry_of(const struct sessions *sessions, const char *id)
{
	uint8_t hash[SESSION_HASH_LEN];

	if (!id)
		return NULL;
	hash_id(id, hash);
	return map_get(sessions->by_hash, BYTES(hash, sizeof(hash)));
}

/* ---- the table ---- */

static void remove_entry(struct sessions *sessions, struct entry *entry)
{
	map_remove(sessions->by_hash, hash_bytes(entry));
	list_remove(&entry->hook);
	free(entry);
	sessions->is_changed = true;
}

static void take_row(const struct session_row *row, void *context)
{
	struct sessions *sessions = context;
	struct entry *entry;

	if (map_get(sessions->by_hash, BYTES(row->hash, sizeof(row->hash))))
		return;
	entry = memory_new(sizeof(*entry));
	entry->row = *row;
	text_hex(row->hash, (SESSION_SHORT_ROOM - 1) / 2, entry->row.session.short_id);
	map_put(sessions->by_hash, hash_bytes(entry), entry);
	list_append(&sessions->all, &entry->hook);
}

static void remove_all(struct sessions *sessions)
{
	LIST_EACH_SAFE (hook, &sessions->all)
		remove_entry(sessions, LIST_ENTRY(hook, struct entry, hook));
}

struct sessions *sessions_open(const char *path, struct people *people, struct bytes key, const struct clock *clock,
	const struct session_times *times, char ret_why[PEOPLE_WHY])
{
	struct sessions *sessions = memory_new(sizeof(*sessions));

	sessions->path = memory_copy_text(path);
	sessions->people = people;
	buffer_add(&sessions->key, key.data, key.len);
	sessions->clock = clock;
	sessions->times = *times;
	sessions->by_hash = map_new();
	list_init(&sessions->all);
	if (session_file_read(path, take_row, sessions, ret_why) < 0)
		remove_all(sessions);
	return sessions;
}

void sessions_free(struct sessions *sessions)
{
	if (!sessions)
		return;
	remove_all(sessions);
	map_free(sessions->by_hash);
	buffer_free_secret(&sessions->key);
	free(sessions->path);
	free(sessions);
}

/* ---- the file ---- */

static int write_now(struct sessions *sessions)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_free_ char *path = memory_copy_text(sessions->path);
	int r = file_make_private_folder(dirname(path));

	session_file_begin(&text);
	LIST_EACH (hook, &sessions->all)
		session_file_add(&text, &LIST_ENTRY(hook, struct entry, hook)->row);
	if (r == 0)
		r = file_write_durably(sessions->path, buffer_bytes(&text), 0600);
	if (r < 0)
		return r;
	sessions->is_changed = sessions->is_seen = false;
	sessions->written_us = clock_boot_us(sessions->clock);
	return 0;
}

int sessions_write(struct sessions *sessions)
{
	bool is_due = clock_boot_us(sessions->clock) - sessions->written_us >= SEEN_EACH_US;

	return sessions->is_changed || (sessions->is_seen && is_due) ? write_now(sessions) : 0;
}

/* ---- how long they live ---- */

static void times_of(const struct sessions *sessions, const struct session *session, const struct person *person,
	int64_t *ret_idle_us, int64_t *ret_most_us)
{
	const struct session_times *times = &sessions->times;

	if (session->step != SESSION_FULL) {
		*ret_idle_us = *ret_most_us = times->step_us;
	} else if (person->roles[ROLE_ADMIN].is_held || person->roles[ROLE_OPERATOR].is_held) {
		*ret_idle_us = times->idle_admin_us;
		*ret_most_us = times->most_admin_us;
	} else if (session->stays && !person->roles[ROLE_APPROVER].is_held) {
		*ret_idle_us = times->idle_stay_us;
		*ret_most_us = times->most_stay_us;
	} else {
		*ret_idle_us = times->idle_us;
		*ret_most_us = times->most_us;
	}
}

static bool has_ended(const struct sessions *sessions, const struct entry *entry)
{
	const struct session *session = &entry->row.session;
	const struct person *person = people_find(sessions->people, session->person);
	int64_t now_us = clock_wall_us(sessions->clock), idle_us, most_us;

	if (!person || person->version != entry->row.version)
		return true;
	times_of(sessions, session, person, &idle_us, &most_us);
	return session->made_us > now_us + FUTURE_US || now_us - session->made_us >= most_us ||
		now_us - session->seen_us >= idle_us;
}

static struct entry *live_entry(struct sessions *sessions, const char *id)
{
	struct entry *entry = entry_of(sessions, id);

	if (!entry || !has_ended(sessions, entry))
		return entry;
	remove_entry(sessions, entry);
	return NULL;
}

static void remove_ended(struct sessions *sessions)
{
	LIST_EACH_SAFE (hook, &sessions->all) {
		struct entry *entry = LIST_ENTRY(hook, struct entry, hook);

		if (has_ended(sessions, entry))
			remove_entry(sessions, entry);
	}
}

/* ---- starting and using ---- */

static bool is_of(const struct entry *entry, const char *person)
{
	return !person || strcmp(entry->row.session.person, person) == 0;
}

/* Makes room for one more of this kind: whole ones, or those that have not given all yet. */
static void end_oldest(struct sessions *sessions, const char *person, bool is_whole)
{
	struct entry *oldest = NULL;
	int count = 0;

	LIST_EACH (hook, &sessions->all) {
		struct entry *entry = LIST_ENTRY(hook, struct entry, hook);

		if (!is_of(entry, person) || (entry->row.session.step == SESSION_FULL) != is_whole)
			continue;
		oldest = oldest ? oldest : entry;
		count++;
	}
	if (count >= SESSIONS_EACH)
		remove_entry(sessions, oldest);
}

static void copy_plain(char *to, size_t room, const char *from)
{
	text_copy(to, room, from ? from : "");
	text_make_plain(to);
}

void session_start(struct sessions *sessions, const struct person *person, enum session_step step,
	const struct session_origin *origin, char ret_id[SESSION_ID_ROOM])
{
	struct entry *entry = memory_new(sizeof(*entry));
	struct session *session = &entry->row.session;

	remove_ended(sessions);
	end_oldest(sessions, person->name, step == SESSION_FULL);
	TEXT_COPY(session->person, person->name);
	copy_plain(session->network, sizeof(session->network), origin->network);
	copy_plain(session->browser, sizeof(session->browser), origin->browser);
	session->step = step;
	session->stays = origin->stays;
	session->made_us = session->seen_us = session->proved_us = clock_wall_us(sessions->clock);
	entry->row.version = person->version;
	list_append(&sessions->all, &entry->hook);
	set_id(sessions, entry, ret_id);
	sessions->is_changed = true;
	sessions_write(sessions);
}

const struct session *session_find(struct sessions *sessions, const char *id, bool is_active)
{
	struct entry *entry = live_entry(sessions, id);

	if (entry && is_active) {
		entry->row.session.seen_us = clock_wall_us(sessions->clock);
		sessions->is_seen = true;
	}
	return entry ? &entry->row.session : NULL;
}

int session_renew(struct sessions *sessions, const char *id, enum session_step step, char ret_id[SESSION_ID_ROOM])
{
	struct entry *entry = entry_of(sessions, id);
	const struct person *person = entry ? people_find(sessions->people, entry->row.session.person) : NULL;

	if (!person)
		return -ENOENT;
	if (step == SESSION_FULL && entry->row.session.step != SESSION_FULL)
		end_oldest(sessions, person->name, true);
	map_remove(sessions->by_hash, hash_bytes(entry));
	set_id(sessions, entry, ret_id);
	entry->row.version = person->version;
	entry->row.session.step = step;
	entry->row.session.wrong_proofs = 0;
	entry->row.session.seen_us = entry->row.session.proved_us = clock_wall_us(sessions->clock);
	sessions->is_changed = true;
	sessions_write(sessions);
	return 0;
}

int session_wrong_proof(struct sessions *sessions, const char *id)
{
	struct entry *entry = live_entry(sessions, id);
	int count;

	if (!entry)
		return SESSION_WRONG_MOST;
	count = ++entry->row.session.wrong_proofs;
	if (count >= SESSION_WRONG_MOST)
		remove_entry(sessions, entry);
	sessions_write(sessions);
	return count;
}

bool session_is_fresh(const struct sessions *sessions, const struct session *session)
{
	int64_t since_us = clock_wall_us(sessions->clock) - session->proved_us;

	return session->step == SESSION_FULL && since_us >= 0 && since_us < sessions->times.fresh_us;
}

/* ---- ending ---- */

int session_end(struct sessions *sessions, const char *id)
{
	struct entry *entry = entry_of(sessions, id);

	if (entry)
		remove_entry(sessions, entry);
	return sessions_write(sessions);
}

int session_end_short(struct sessions *sessions, const char *person, const char *short_id)
{
	LIST_EACH_SAFE (hook, &sessions->all) {
		struct entry *entry = LIST_ENTRY(hook, struct entry, hook);

		if (!is_of(entry, person) || strcmp(entry->row.session.short_id, short_id) != 0)
			continue;
		remove_entry(sessions, entry);
		return sessions_write(sessions);
	}
	return -ENOENT;
}

int session_end_person(struct sessions *sessions, const char *person, const char *id, int *ret_count)
{
	const struct entry *kept = entry_of(sessions, id);
	int count = 0;

	LIST_EACH_SAFE (hook, &sessions->all) {
		struct entry *entry = LIST_ENTRY(hook, struct entry, hook);

		if (entry == kept || !is_of(entry, person))
			continue;
		remove_entry(sessions, entry);
		count++;
	}
	if (ret_count)
		*ret_count = count;
	return sessions_write(sessions);
}

int session_each(
	struct sessions *sessions, const char *person, const char *own_id, session_each_fn *each, void *context)
{
	const struct entry *own = entry_of(sessions, own_id);
	int count = 0;

	LIST_EACH (hook, &sessions->all) {
		const struct entry *entry = LIST_ENTRY(hook, struct entry, hook);

		if (!is_of(entry, person) || has_ended(sessions, entry))
			continue;
		each(&entry->row.session, entry == own, context);
		count++;
	}
	return count;
}

/* ---- tokens ---- */

void session_token(const struct sessions *sessions, const char *id, char ret[SESSION_TOKEN_ROOM])
{
	_cleanup_(buffer_free_secret) struct buffer text = { 0 };
	uint8_t token[HMAC_LEN];

	buffer_add_text(&text, "csrf");
	buffer_add_text(&text, id);
	hmac_sha256(buffer_bytes(&sessions->key), buffer_bytes(&text), token);
	text_hex(token, sizeof(token), ret);
}

bool session_token_matches(const struct sessions *sessions, const char *id, const char *token)
{
	char right[SESSION_TOKEN_ROOM];

	session_token(sessions, id, right);
	return token && strlen(token) == sizeof(right) - 1 && CRYPTO_memcmp(right, token, sizeof(right) - 1) == 0;
}
