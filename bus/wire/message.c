/*
 * message.c: an envelope and a payload
 *
 * Promises:  a message that message_read accepts has a topic and a shop, and names that can be printed and logged.
 * Fails by:  -EMSGSIZE for what we were asked to write, -EBADMSG for what came from outside.
 * Read next: frame.c
 */
#include "bus/wire/message.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include <errno.h>
#include <pb_decode.h>
#include <pb_encode.h>

enum { PREFIX = 2 };

int message_write(const Envelope *envelope, struct bytes payload, struct buffer *ret)
{
	size_t before = ret->len;
	uint8_t *at = buffer_grow(ret, PREFIX + Envelope_size);
	pb_ostream_t stream = pb_ostream_from_buffer(at + PREFIX, Envelope_size);

	if (!pb_encode(&stream, Envelope_fields, envelope))
		return -EMSGSIZE;
	if (PREFIX + stream.bytes_written + payload.len > MESSAGE_BYTES_MAX)
		return -EMSGSIZE;
	at[0] = (uint8_t)stream.bytes_written;
	at[1] = (uint8_t)(stream.bytes_written >> 8);
	ret->len = before + PREFIX + stream.bytes_written;
	if (payload.len > 0)
		buffer_add(ret, payload.data, payload.len);
	return 0;
}

static bool name_is_fit(const char *name)
{
	return text_is_utf8(bytes_of(name)) && !text_has_control(name);
}

static bool names_are_fit(const Envelope *envelope)
{
	if (envelope->topic[0] == '\0' || envelope->shop[0] == '\0')
		return false;
	return name_is_fit(envelope->topic) && name_is_fit(envelope->shop) && name_is_fit(envelope->key) &&
		name_is_fit(envelope->idem) && name_is_fit(envelope->trace);
}

int message_read(struct bytes message, Envelope *ret_envelope, struct bytes *ret_payload)
{
	const uint8_t *at = message.data;
	pb_istream_t stream;
	size_t len;

	if (message.len < PREFIX || message.len > MESSAGE_BYTES_MAX)
		return -EBADMSG;
	len = get_u16(at);
	if (len > message.len - PREFIX)
		return -EBADMSG;
	stream = pb_istream_from_buffer(at + PREFIX, len);
	if (!pb_decode(&stream, Envelope_fields, ret_envelope) || !names_are_fit(ret_envelope))
		return -EBADMSG;
	*ret_payload = BYTES(at + PREFIX + len, message.len - PREFIX - len);
	return 0;
}
