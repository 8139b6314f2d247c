/*
 * sidelog_file.c: the side log's file
 *
 * Promises:  a record counts when its CRC is right, wherever it lies; damaged parts are counted, and the
 *            records behind them are read.
 * Read next: bus/broker/log/sidelog.c (writes it), bus/actor/runtime/sidelog.h (reads it)
 */
#include "bus/wire/sidelog_file.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include <errno.h>

enum { RECORD_HEAD = 12, KIND_HEAD = 1, KIND_MESSAGE = 2, MESSAGE_HEAD = 17 };
enum { RECORD_MOST = MESSAGE_HEAD + MESSAGE_BYTES_MAX };
static const uint32_t record_magic = 0x44534243; /* "CBSD" */

static void write_record(struct bytes body, struct buffer *ret)
{
	buffer_add_u32(ret, record_magic);
	buffer_add_u32(ret, (uint32_t)body.len);
	buffer_add_u32(ret, text_crc(body));
	buffer_add(ret, body.data, body.len);
}

void sidelog_write_head(const struct sidelog_head *head, struct buffer *ret)
{
	uint8_t body[1 + sizeof(head->log) + sizeof(head->origin)] = { KIND_HEAD };

	text_copy((char *)body + 1, sizeof(head->log), head->log);
	text_copy((char *)body + 1 + sizeof(head->log), sizeof(head->origin), head->origin);
	write_record(BYTES(body, sizeof(body)), ret);
}

void sidelog_write(const struct sidelog_record *record, struct buffer *ret)
{
	struct buffer body = { 0 };
	uint8_t kind = KIND_MESSAGE;

	buffer_add(&body, &kind, 1);
	buffer_add_be64(&body, record->seq);
	buffer_add_be64(&body, (uint64_t)record->time_us);
	buffer_add(&body, record->message.data, record->message.len);
	write_record(buffer_bytes(&body), ret);
	buffer_free(&body);
}

/* false: no whole record lies here. */
static bool read_record(struct bytes file, size_t at, struct bytes *ret_body)
{
	const uint8_t *head = (const uint8_t *)file.data + at;
	size_t left = file.len - at;

	if (left < RECORD_HEAD || get_u32(head) != record_magic || get_u32(head + 4) > RECORD_MOST ||
		get_u32(head + 4) > left - RECORD_HEAD)
		return false;
	*ret_body = BYTES(head + RECORD_HEAD, get_u32(head + 4));
	return ret_body->len > 0 && text_crc(*ret_body) == get_u32(head + 8);
}

/* The next place where a whole record lies; the end of the file: there is none. */
static size_t find_record(struct bytes file, size_t at)
{
	struct bytes body;

	while (at < file.len && !read_record(file, at, &body))
		at++;
	return at;
}

static bool is_head(struct bytes body, struct sidelog_head *ret)
{
	const char *at = body.data;

	if (body.len != 1 + sizeof(ret->log) + sizeof(ret->origin) || at[0] != KIND_HEAD)
		return false;
	memcpy(ret->log, at + 1, sizeof(ret->log));
	memcpy(ret->origin, at + 1 + sizeof(ret->log), sizeof(ret->origin));
	ret->log[sizeof(ret->log) - 1] = ret->origin[sizeof(ret->origin) - 1] = '\0';
	return true;
}

static void take(struct bytes body, sidelog_fn *each, void *context, struct sidelog_read *reading)
{
	const uint8_t *at = body.data;
	struct sidelog_record record;

	if (body.len <= MESSAGE_HEAD || at[0] != KIND_MESSAGE)
		return;
	record = (struct sidelog_record){ .seq = get_be64(at + 1),
		.time_us = (int64_t)get_be64(at + 9),
		.message = BYTES(at + MESSAGE_HEAD, body.len - MESSAGE_HEAD) };
	reading->count++;
	if (record.seq > reading->last) {
		reading->last = record.seq;
		reading->last_us = record.time_us;
	}
	if (each)
		each(&record, context);
}

int sidelog_read(struct bytes file, sidelog_fn *each, void *context, struct sidelog_read *ret)
{
	struct bytes body;
	size_t at;

	*ret = (struct sidelog_read){ 0 };
	if (!read_record(file, 0, &body) || !is_head(body, &ret->head))
		return -EBADMSG;
	for (at = RECORD_HEAD + body.len; at < file.len; at += RECORD_HEAD + body.len) {
		if (!read_record(file, at, &body)) {
			size_t next = find_record(file, at + 1);

			ret->is_torn = next == file.len;
			if (ret->is_torn)
				break;
			ret->damages++;
			at = next;
			read_record(file, at, &body);
		}
		take(body, each, context, ret);
		if (ret->damages == 0)
			ret->whole = at + RECORD_HEAD + body.len;
	}
	if (ret->whole == 0)
		ret->whole = RECORD_HEAD + 1 + sizeof(ret->head.log) + sizeof(ret->head.origin);
	return 0;
}
