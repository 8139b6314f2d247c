/*
 * session_file.c: writes and reads sessions as JSON lines
 *
 *   {"cartbus_sessions": 1}
 *   {"hash": "ab12...", "person": "ann", "version": 7, "step": "full", "stays": false, "made_us": 1, "seen_us": 1,
 *    "proved_us": 1, "network": "192.0.2.1", "browser": "Firefox"}
 */
#include "services/console/people/session_file.h"

#include "bus/base/file.h"
#include "bus/base/text.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT = 1, FILE_MOST = 64 << 20 };

static const char *const step_names[] = {
	[SESSION_PASSWORD] = "password",
	[SESSION_ENROLS] = "enrols",
	[SESSION_FULL] = "full",
};

static void add_line(struct buffer *to, json_t *json)
{
	char *line = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	if (!line)
		return;
	buffer_add_text(to, line);
	buffer_add_text(to, "\n");
	free(line);
}

void session_file_begin(struct buffer *ret)
{
	add_line(ret, json_pack("{s:i}", "cartbus_sessions", FORMAT));
}

void session_file_add(struct buffer *ret, const struct session_row *row)
{
	const struct session *session = &row->session;
	char hash[2 * SESSION_HASH_LEN + 1];

	text_hex(row->hash, sizeof(row->hash), hash);
	add_line(ret,
		json_pack("{s:s,s:s,s:I,s:s,s:b,s:I,s:I,s:I,s:s,s:s}", "hash", hash, "person", session->person,
			"version", (json_int_t)row->version, "step", step_names[session->step], "stays", session->stays,
			"made_us", (json_int_t)session->made_us, "seen_us", (json_int_t)session->seen_us, "proved_us",
			(json_int_t)session->proved_us, "network", session->network, "browser", session->browser));
}

static bool read_step(const char *name, enum session_step *ret)
{
	for (int step = SESSION_PASSWORD; step <= SESSION_FULL; step++)
		if (strcmp(name, step_names[step]) == 0) {
			*ret = (enum session_step)step;
			return true;
		}
	return false;
}

static bool read_row(json_t *line, struct session_row *ret)
{
	const char *hash, *person, *step, *network, *browser;
	json_int_t version, made_us, seen_us, proved_us;
	struct session *session = &ret->session;
	int stays;

	*ret = (struct session_row){ 0 };
	if (json_unpack(line, "{s:s,s:s,s:I,s:s,s:b,s:I,s:I,s:I,s:s,s:s}", "hash", &hash, "person", &person, "version",
		    &version, "step", &step, "stays", &stays, "made_us", &made_us, "seen_us", &seen_us, "proved_us",
		    &proved_us, "network", &network, "browser", &browser) < 0)
		return false;
	ret->version = version;
	session->made_us = made_us;
	session->seen_us = seen_us;
	session->proved_us = proved_us;
	session->stays = stays;
	return text_unhex(hash, ret->hash, sizeof(ret->hash)) && TEXT_COPY(session->person, person) &&
		read_step(step, &session->step) && TEXT_COPY(session->network, network) &&
		TEXT_COPY(session->browser, browser);
}

static bool take_line(const char *from, size_t len, int number, session_row_fn *each, void *context)
{
	json_t *json = json_loadb(from, len, JSON_REJECT_DUPLICATES, NULL);
	struct session_row row;
	bool is_fine;

	if (number == 1) {
		is_fine = json_integer_value(json_object_get(json, "cartbus_sessions")) == FORMAT;
	} else {
		is_fine = json && read_row(json, &row);
		if (is_fine)
			each(&row, context);
	}
	json_decref(json);
	return is_fine;
}

int session_file_read(const char *path, session_row_fn *each, void *context, char ret_why[PEOPLE_WHY])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	int r = file_read(path, FILE_MOST, &text), number = 0;
	const char *at = (const char *)text.data, *end = at + text.len;

	ret_why[0] = '\0';
	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		snprintf(ret_why, PEOPLE_WHY, "%s: %s: everybody has to sign in again", path, strerror(-r));
		return r;
	}
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (!line_end || !take_line(at, (size_t)(line_end - at), ++number, each, context)) {
			snprintf(ret_why, PEOPLE_WHY, "%s:%d: it is damaged: people have to sign in again", path,
				number + !line_end);
			return -EBADMSG;
		}
		at = line_end + 1;
	}
	return 0;
}
