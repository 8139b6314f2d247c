/*
 * fuzz_codec.c: what services say is read by our tables as nanopb reads it, and written as nanopb writes it
 *
 * Input: a byte that says which topic; then what its payload is said to be.
 */
#include "bus/wire/codec.h"
#include "proto/cart_topics.h"
#include "tests/fuzz/fuzz.h"
#include <pb_decode.h>
#include <pb_encode.h>
#include <string.h>

enum { MESSAGE_MOST = 1 << 16, WRITTEN_MOST = 1 << 18 };

static const struct topic *const topics[] = {
#define TOPIC_OF(name, text, type, retention, group) &topic_##name,
	CART_TOPICS(TOPIC_OF)
};

static bool read_by_nanopb(const struct topic *topic, struct bytes from, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(from.data, from.len);

	return pb_decode(&stream, topic->message, ret);
}

static size_t write_by_nanopb(const struct topic *topic, const void *message, uint8_t *to)
{
	pb_ostream_t stream = pb_ostream_from_buffer(to, WRITTEN_MOST);

	MUST(pb_encode(&stream, topic->message, message));
	return stream.bytes_written;
}

static void must_be_written(const struct codec *codec, const void *message, struct bytes expected)
{
	static uint8_t written[WRITTEN_MOST];

	MUST(codec_size(codec, message) == expected.len && expected.len <= codec_most(codec));
	MUST(codec_write(codec, message, written) == expected.len);
	MUST(memcmp(written, expected.data, expected.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static _Alignas(8) uint8_t ours[MESSAGE_MOST], theirs[MESSAGE_MOST];
	static uint8_t expected[WRITTEN_MOST];
	bool accepted;

	if (len == 0)
		return 0;
	const struct topic *topic = topics[data[0] % (sizeof(topics) / sizeof(topics[0]))];
	const struct codec *codec = codec_of(topic->message);
	MUST(topic->size <= MESSAGE_MOST);
	memset(ours, 0xaa, topic->size); /* what was there before does not shine through */
	accepted = codec_read(codec, BYTES(data + 1, len - 1), ours) == 0;
	if (topic->message->field_callback !=
		pb_default_field_callback) { /* nanopb writes such a message, and does not read it */
		if (accepted)
			must_be_written(codec, ours, BYTES(expected, write_by_nanopb(topic, ours, expected)));
		return 0;
	}
	if (!read_by_nanopb(topic, BYTES(data + 1, len - 1), theirs)) {
		MUST(!accepted);
		return 0;
	}
	struct bytes usual = BYTES(expected, write_by_nanopb(topic, theirs, expected));
	if (accepted)
		must_be_written(codec, ours, usual);
	/* What nanopb accepts and we refuse is odd: a number of twenty bytes in a field that nobody knows. As it is usually written we do. */
	MUST(codec_read(codec, usual, ours) == 0);
	must_be_written(codec, ours, usual);
	return 0;
}
