/*
 * encode.c: message_encode: from a service's struct to a message as it lies on the wire
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/turns.h"
#include "bus/base/text.h"
#include "bus/wire/codec.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include <errno.h>

bool turn_encode(const struct topic *topic, const void *message, struct buffer *ret)
{
	const struct codec *codec = codec_of(topic->message);
	size_t size = codec_size(codec, message);

	if (size > MESSAGE_BYTES_MAX)
		return false;
	ret->len += codec_write(codec, message, buffer_grow(ret, size));
	return true;
}

static bool fits(char *to, size_t room, const char *from)
{
	return text_copy(to, room, from ? from : "");
}

int message_encode_with(Envelope *envelope, const struct topic *topic, const struct publish_options *how,
	const void *message, struct buffer *ret)
{
	size_t before = ret->len;
	int r;

	if (!fits(envelope->topic, sizeof(envelope->topic), topic->name) ||
		!fits(envelope->shop, sizeof(envelope->shop), how->shop) ||
		!fits(envelope->key, sizeof(envelope->key), how->key) ||
		!fits(envelope->idem, sizeof(envelope->idem), how->idem))
		return -EMSGSIZE;
	envelope->version = how->version;
	envelope->tombstone = how->tombstone;
	r = message_write(envelope, BYTES(NULL, 0), ret);
	if (r == 0 && turn_encode(topic, message, ret) && ret->len - before <= MESSAGE_BYTES_MAX)
		return 0;
	ret->len = before;
	return -EMSGSIZE;
}

int message_encode(const struct topic *topic, const struct publish_options *how, const char *trace, int64_t said_us,
	const void *message, struct buffer *ret)
{
	Envelope envelope = { .said_us = said_us };

	if (!fits(envelope.trace, sizeof(envelope.trace), trace))
		return -EMSGSIZE;
	return message_encode_with(&envelope, topic, how, message, ret);
}
