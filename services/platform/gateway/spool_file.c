/* spool_file.c: one file of the spool: records with a magic number, a length and a CRC */
#include "services/platform/gateway/spool_file.h"
#include "bus/base/text.h"
#include <errno.h>

static const uint32_t record_magic = 0x4c505343; /* "CSPL" */

void spool_record_write(struct bytes messages, uint32_t count, struct buffer *ret)
{
	struct buffer body = { 0 };

	buffer_add_u32(&body, count);
	buffer_add(&body, messages.data, messages.len);
	buffer_add_u32(ret, record_magic);
	buffer_add_u32(ret, (uint32_t)body.len);
	buffer_add_u32(ret, text_crc(buffer_bytes(&body)));
	buffer_add(ret, body.data, body.len);
	buffer_free(&body);
}

/* The lengths inside add up: a CRC that fits does not make it so. */
static bool adds_up(struct bytes messages, uint32_t count)
{
	const uint8_t *at = messages.data;
	size_t left = messages.len;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;

		if (left < 4 || (len = get_u32(at)) > left - 4)
			return false;
		at += 4 + len;
		left -= 4 + len;
	}
	return left == 0;
}

int spool_record_read(struct bytes file, size_t at, struct bytes *ret_messages, uint32_t *ret_count, size_t *ret_next)
{
	const uint8_t *head = (const uint8_t *)file.data + at;
	size_t left = file.len - at;
	struct bytes body;

	if (left == 0)
		return -ENODATA;
	if (left < SPOOL_RECORD_HEAD + 4 || get_u32(head) != record_magic || get_u32(head + 4) < 4 ||
		get_u32(head + 4) > SPOOL_RECORD_MOST || get_u32(head + 4) > left - SPOOL_RECORD_HEAD)
		return -EBADMSG;
	body = BYTES(head + SPOOL_RECORD_HEAD, get_u32(head + 4));
	if (text_crc(body) != get_u32(head + 8))
		return -EBADMSG;
	*ret_count = get_u32(body.data);
	*ret_messages = BYTES((const uint8_t *)body.data + 4, body.len - 4);
	*ret_next = at + SPOOL_RECORD_HEAD + body.len;
	return adds_up(*ret_messages, *ret_count) ? 0 : -EBADMSG;
}

bool spool_record_follows(struct bytes file, size_t at)
{
	struct bytes messages;
	uint32_t count;
	size_t next;

	for (size_t i = at + 1; i + SPOOL_RECORD_HEAD <= file.len; i++)
		if (get_u32((const uint8_t *)file.data + i) == record_magic &&
			spool_record_read(file, i, &messages, &count, &next) == 0)
			return true;
	return false;
}
