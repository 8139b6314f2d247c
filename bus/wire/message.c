/*
 * message.c: an envelope and a payload
 *
 * Promises:  a message that message_read accepts has a topic and a shop, and names that can be printed and logged.
 * Fails by:  -EMSGSIZE for a message to write, -EBADMSG for a message from outside.
 * Read next: frame.c
 */
#include "bus/wire/message.h"
#include "bus/base/text.h"
#include "bus/wire/codec.h"
#include "bus/wire/frame.h"
#include <errno.h>

enum { PREFIX = 2 };

int message_write(const Envelope *envelope, struct bytes payload, struct buffer *ret)
{
	const struct codec *codec = codec_of(Envelope_fields);
	uint8_t *at = buffer_grow(ret, PREFIX + codec_most(codec));
	size_t len = codec_write(codec, envelope, at + PREFIX);

	if (PREFIX + len + payload.len > MESSAGE_BYTES_MAX)
		return -EMSGSIZE;
	at[0] = (uint8_t)len;
	at[1] = (uint8_t)(len >> 8);
	ret->len += PREFIX + len;
	if (payload.len > 0)
		buffer_add(ret, payload.data, payload.len);
	return 0;
}

static uint64_t eight(const char *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return bytes;
}

/*
 * Nearly all names are plain ASCII, from ' ' to '~': the function checks eight bytes at a time. The lowest
 * byte that is not plain shows by its top bit, in itself, less ' ', or plus one: the plain bytes below it
 * cause no borrow and no carry.
 */
static bool name_is_plain(const char *name)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = 0x80 * ones;
	size_t left = strlen(name);

	for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), name += sizeof(uint64_t)) {
		uint64_t bytes = eight(name);

		if ((bytes | (bytes - ' ' * ones) | (bytes + ones)) & tops)
			return false;
	}
	for (; left > 0; left--, name++)
		if (*name < ' ' || *name > '~')
			return false;
	return true;
}

static bool name_is_fit(const char *name)
{
	return name_is_plain(name) || (text_is_utf8(bytes_of(name)) && !text_has_control(name));
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
	size_t len;

	if (message.len < PREFIX || message.len > MESSAGE_BYTES_MAX)
		return -EBADMSG;
	len = get_u16(at);
	if (len > message.len - PREFIX)
		return -EBADMSG;
	if (codec_read(codec_of(Envelope_fields), BYTES(at + PREFIX, len), ret_envelope) < 0 ||
		!names_are_fit(ret_envelope))
		return -EBADMSG;
	*ret_payload = BYTES(at + PREFIX + len, message.len - PREFIX - len);
	return 0;
}
