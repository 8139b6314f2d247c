/*
 * entry_link.c: makes one-time links, and spends them
 *
 * Owns:      <state>/people/links: JSON lines, {"token": "SHA-256", "person": "ann", "drops_totp": false, "until_us": 1}.
 * Promises:  of two that spend a link at a time one gets it. A link that was spent is gone from the disk before the caller
 *            hears of it. Links whose time is over are removed by the next change.
 * Fails by:  a negative errno. A line that is damaged is no link, and is removed: links are made anew in a moment.
 */
#include "services/console/people/entry_link.h"

#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/console/people/folder.h"
#include <errno.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "links"
enum { LINKS_MOST = 1000 };

struct link_row {
	struct entry_link link;
	char hash[2 * SHA256_DIGEST_LENGTH + 1];
};

struct link_rows {
	struct link_row all[LINKS_MOST];
	size_t count;
};

/* ---- tokens ---- */

static void make_token(char ret[ENTRY_TOKEN_ROOM])
{
	char half[2][33];

	for (int i = 0; i < 2; i++)
		text_random_name(half[i]);
	snprintf(ret, ENTRY_TOKEN_ROOM, "%s%s", half[0], half[1]);
	OPENSSL_cleanse(half, sizeof(half));
}

static void hash_token(const char *token, char ret[2 * SHA256_DIGEST_LENGTH + 1])
{
	uint8_t hash[SHA256_DIGEST_LENGTH];

	SHA256((const uint8_t *)token, strlen(token), hash);
	text_hex(hash, sizeof(hash), ret);
}

/* ---- the file ---- */

static bool read_row(json_t *json, struct link_row *ret)
{
	const char *hash, *person;
	json_int_t until_us;
	int drops_totp;

	if (json_unpack(json, "{s:s,s:s,s:b,s:I}", "token", &hash, "person", &person, "drops_totp", &drops_totp,
		    "until_us", &until_us) < 0)
		return false;
	ret->link.drops_totp = drops_totp;
	ret->link.until_us = until_us;
	return TEXT_COPY(ret->hash, hash) && TEXT_COPY(ret->link.person, person);
}

/* A time further ahead than a link can have is from a clock that was set back since: it is over as well. */
static bool is_over(const struct link_row *row, int64_t now_us)
{
	return row->link.until_us <= now_us || row->link.until_us > now_us + ENTRY_LINK_US;
}

static void read_rows(struct bytes text, int64_t now_us, struct link_rows *ret)
{
	const char *at = text.data, *end = at + text.len, *line_end;

	while (at < end && (line_end = memchr(at, '\n', (size_t)(end - at))) && ret->count < LINKS_MOST) {
		json_t *json = json_loadb(at, (size_t)(line_end - at), 0, NULL);
		struct link_row *row = &ret->all[ret->count];

		if (json && read_row(json, row) && !is_over(row, now_us))
			ret->count++;
		json_decref(json);
		at = line_end + 1;
	}
}

static void print_rows(const struct link_rows *rows, struct buffer *ret)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct entry_link *link = &rows->all[i].link;
		json_t *json = json_pack("{s:s,s:s,s:b,s:I}", "token", rows->all[i].hash, "person", link->person,
			"drops_totp", link->drops_totp, "until_us", (json_int_t)link->until_us);
		char *line = json_dumps(json, JSON_COMPACT);

		buffer_printf(ret, "%s\n", line ? line : "{}");
		free(line);
		json_decref(json);
	}
}

static void remove_row(struct link_rows *rows, size_t at)
{
	rows->count--;
	memmove(&rows->all[at], &rows->all[at + 1], (rows->count - at) * sizeof(rows->all[at]));
}

static void remove_of(struct link_rows *rows, const char *person)
{
	for (size_t i = rows->count; i-- > 0;)
		if (strcmp(rows->all[i].link.person, person) == 0)
			remove_row(rows, i);
}

/* The row of this token; rows->count: there is none. */
static size_t row_of(const struct link_rows *rows, const char *token)
{
	char hash[2 * SHA256_DIGEST_LENGTH + 1];
	size_t found = rows->count;

	hash_token(token, hash);
	for (size_t i = 0; i < rows->count; i++)
		if (strlen(rows->all[i].hash) == sizeof(hash) - 1 &&
			CRYPTO_memcmp(rows->all[i].hash, hash, sizeof(hash)) == 0)
			found = i;
	return found;
}

/* ---- reading, changing and writing, under the lock ---- */

struct change {
	int (*change)(struct link_rows *rows, struct change *change);
	const char *token, *person;
	struct entry_link link; /* to be made, or found */
	bool only_looks;
};

static int change_locked(const struct people_folder *folder, struct change *change, int64_t now_us)
{
	_cleanup_(buffer_free) struct buffer text = { 0 }, after = { 0 };
	_cleanup_free_ struct link_rows *rows = memory_new(sizeof(*rows));
	int r = people_folder_read(folder, FILE_NAME, &text);

	if (r < 0 && r != -ENOENT)
		return r;
	read_rows(buffer_bytes(&text), now_us, rows);
	r = change->change(rows, change);
	if (r < 0 || change->only_looks)
		return r;
	print_rows(rows, &after);
	return people_folder_write(folder, FILE_NAME, buffer_bytes(&after));
}

static int change_links(const char *path, struct change *change, int64_t now_us, char why[PEOPLE_WHY])
{
	struct people_folder folder;
	int r = people_folder_lock(path, &folder);

	if (r == 0) {
		r = change_locked(&folder, change, now_us);
		people_folder_close(&folder);
	}
	if (r == -ENOENT)
		snprintf(why, PEOPLE_WHY, "the link does not exist, was used, or its time is over");
	else if (r < 0)
		snprintf(why, PEOPLE_WHY, "%s/" FILE_NAME ": %s", path, strerror(-r));
	return r;
}

static int add_link(struct link_rows *rows, struct change *change)
{
	struct link_row *row;

	remove_of(rows, change->link.person);
	if (rows->count == LINKS_MOST)
		remove_row(rows, 0);
	row = &rows->all[rows->count++];
	row->link = change->link;
	hash_token(change->token, row->hash);
	return 0;
}

int entry_link_make(const char *folder, const struct entry_link *link, int64_t now_us, char ret_token[ENTRY_TOKEN_ROOM],
	char ret_why[PEOPLE_WHY])
{
	struct change change = { .change = add_link, .token = ret_token, .link = *link };

	make_token(ret_token);
	change.link.until_us = now_us + ENTRY_LINK_US;
	return change_links(folder, &change, now_us, ret_why);
}

static int find_link(struct link_rows *rows, struct change *change)
{
	size_t at = row_of(rows, change->token);

	if (at == rows->count)
		return -ENOENT;
	change->link = rows->all[at].link;
	if (!change->only_looks)
		remove_row(rows, at);
	return 0;
}

int entry_link_look(const char *folder, const char *token, int64_t now_us, struct entry_link *ret)
{
	struct change change = { .change = find_link, .token = token, .only_looks = true };
	char why[PEOPLE_WHY];
	int r = change_links(folder, &change, now_us, why);

	if (r == 0)
		*ret = change.link;
	return r;
}

int entry_link_spend(
	const char *folder, const char *token, int64_t now_us, struct entry_link *ret, char ret_why[PEOPLE_WHY])
{
	struct change change = { .change = find_link, .token = token };
	int r = change_links(folder, &change, now_us, ret_why);

	if (r == 0)
		*ret = change.link;
	return r;
}

static int remove_links(struct link_rows *rows, struct change *change)
{
	remove_of(rows, change->person);
	return 0;
}

int entry_link_revoke(const char *folder, const char *person, int64_t now_us, char ret_why[PEOPLE_WHY])
{
	struct change change = { .change = remove_links, .person = person };

	return change_links(folder, &change, now_us, ret_why);
}
