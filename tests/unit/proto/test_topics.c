/* what services say, by tables: what nanopb writes and reads, whatever the topic */
#include "proto/cart_topics.h"
#include "tests/unit/wire/any_message.h"
#include <errno.h>
#include <stdio.h>

enum { ROUNDS = 200 };

static const struct topic *const topics[] = {
#define TOPIC_OF(name, text, type, retention, group) &topic_##name,
	CART_TOPICS(TOPIC_OF)
};

static void every_topics_message_is_written_and_read_as_by_nanopb(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		for (int round = 0; round < ROUNDS; round++)
			one_is_written_and_read_as_by_nanopb(topics[i]->message, topics[i]->size);
}

static void a_damaged_message_is_read_as_by_nanopb_or_not_at_all(void **state)
{
	int refused = 0, all = ROUNDS * (int)(sizeof(topics) / sizeof(topics[0]));

	(void)state;
	for (int round = 0; round < all; round++) {
		const struct topic *topic = topics[round / ROUNDS];

		refused += a_damaged_one_is_read_as_by_nanopb(topic->message, topic->size);
	}
	assert_in_range(refused, all / 20, all - all / 20);
}

/* As many bytes as a length of three says, behind the tag of Document.long_text. */
static int read_borrowed(size_t len, size_t missing, Document *ret, const uint8_t **ret_text)
{
	static uint8_t bytes[4 + CODEC_BORROWED_MAX + 1];

	memset(bytes, 'x', sizeof(bytes));
	bytes[0] = Document_long_text_tag << 3 | 2;
	bytes[1] = (uint8_t)(len | 0x80);
	bytes[2] = (uint8_t)(len >> 7 | 0x80);
	bytes[3] = (uint8_t)(len >> 14);
	*ret_text = bytes + 4;
	return codec_read(codec_of(Document_fields), BYTES(bytes, 4 + len - missing), ret);
}

static void a_borrowed_text_points_into_what_was_read_and_has_a_bound(void **state)
{
	static const uint8_t number[] = { Document_long_text_tag << 3 | 0, 7 };
	Document *document = malloc(sizeof(*document));
	const uint8_t *text;

	(void)state;
	memset(document, 0xaa, sizeof(*document));
	assert_int_equal(read_borrowed(CODEC_BORROWED_MAX, 0, document, &text), 0);
	assert_ptr_equal(document->long_text.data, text);
	assert_int_equal(document->long_text.len, CODEC_BORROWED_MAX);
	assert_int_equal(read_borrowed(CODEC_BORROWED_MAX + 1, 0, document, &text), -EBADMSG);
	assert_int_equal(read_borrowed(CODEC_BORROWED_MAX, 1, document, &text), -EBADMSG);
	assert_int_equal(codec_read(codec_of(Document_fields), BYTES(number, sizeof(number)), document), -EBADMSG);
	assert_int_equal(codec_read(codec_of(Document_fields), BYTES(NULL, 0), document), 0);
	assert_int_equal(document->long_text.len, 0); /* what was there before does not shine through */
	free(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_topics_message_is_written_and_read_as_by_nanopb),
		cmocka_unit_test(a_damaged_message_is_read_as_by_nanopb_or_not_at_all),
		cmocka_unit_test(a_borrowed_text_points_into_what_was_read_and_has_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
