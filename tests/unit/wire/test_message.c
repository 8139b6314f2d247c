/* messages: an envelope and a payload */
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static Envelope envelope_of(const char *topic, const char *shop, const char *key)
{
	Envelope envelope = { .version = 3, .tombstone = true };

	TEXT_COPY(envelope.topic, topic);
	TEXT_COPY(envelope.shop, shop);
	TEXT_COPY(envelope.key, key);
	return envelope;
}

static int write_and_read(const Envelope *envelope)
{
	struct buffer message = { 0 };
	struct bytes payload;
	Envelope back;
	int r = message_write(envelope, bytes_of("payload"), &message);

	if (r == 0)
		r = message_read(buffer_bytes(&message), &back, &payload);
	buffer_free(&message);
	return r;
}

static void what_was_written_is_read(void **state)
{
	Envelope envelope = envelope_of("cart.changed", "demo", "k\xc3\xa4se"), back;
	struct buffer message = { 0 };
	struct bytes payload;

	(void)state;
	assert_int_equal(message_write(&envelope, bytes_of("payload"), &message), 0);
	assert_int_equal(message_read(buffer_bytes(&message), &back, &payload), 0);
	assert_string_equal(back.key, "k\xc3\xa4se");
	assert_int_equal(back.version, 3);
	assert_true(back.tombstone);
	assert_true(bytes_equal(payload, bytes_of("payload")));
	buffer_free(&message);
}

static void names_that_could_forge_a_log_line_are_refused(void **state)
{
	const char *const bad[] = { "a\nb", "a\rb", "\x1b[31m", "a\x7f", "\xff\xfe" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		Envelope envelope = envelope_of("topic", "shop", bad[i]);

		assert_int_equal(write_and_read(&envelope), -EBADMSG);
	}
}

/* Each value of a byte, wherever in a name it is, beside the borders of what is plain. */
static void a_byte_of_a_name_is_judged_alike_wherever_it_is(void **state)
{
	static const char *const names[] = { "                   ", "~~~~~~~~~~~~~~~~~~~", "a ~ b ~ c ~ d ~ e ~" };

	(void)state;
	for (size_t which = 0; which < sizeof(names) / sizeof(names[0]); which++)
		for (size_t at = 0; at < strlen(names[which]); at++)
			for (int value = 1; value <= UINT8_MAX; value++) {
				Envelope envelope = envelope_of("t", "s", names[which]);
				bool fits = (value >= ' ' && value <= '~') || value == '\t';

				envelope.key[at] = (char)value;
				assert_int_equal(write_and_read(&envelope), fits ? 0 : -EBADMSG);
			}
}

static void a_topic_and_a_shop_are_required(void **state)
{
	Envelope no_topic = envelope_of("", "shop", "key"), no_shop = envelope_of("topic", "", "key");
	Envelope no_key = envelope_of("topic", "shop", "");

	(void)state;
	assert_int_equal(write_and_read(&no_topic), -EBADMSG);
	assert_int_equal(write_and_read(&no_shop), -EBADMSG);
	assert_int_equal(write_and_read(&no_key), 0);
}

static void a_message_has_a_largest_size(void **state)
{
	Envelope envelope = envelope_of("topic", "shop", "key");
	uint8_t *large = calloc(1, MESSAGE_BYTES_MAX);
	struct buffer message = { 0 };

	(void)state;
	assert_int_equal(message_write(&envelope, BYTES(large, MESSAGE_BYTES_MAX), &message), -EMSGSIZE);
	assert_int_equal(message.len, 0);
	assert_int_equal(message_write(&envelope, BYTES(large, MESSAGE_BYTES_MAX - 100), &message), 0);
	buffer_free(&message);
	free(large);
}

static void an_envelope_cut_short_is_refused(void **state)
{
	Envelope envelope = envelope_of("topic", "shop", "key"), back;
	struct buffer message = { 0 };
	struct bytes payload;

	(void)state;
	assert_int_equal(message_write(&envelope, BYTES(NULL, 0), &message), 0);
	for (size_t len = 0; len < message.len; len++)
		assert_int_equal(message_read(BYTES(message.data, len), &back, &payload), -EBADMSG);
	buffer_free(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(names_that_could_forge_a_log_line_are_refused),
		cmocka_unit_test(a_byte_of_a_name_is_judged_alike_wherever_it_is),
		cmocka_unit_test(a_topic_and_a_shop_are_required),
		cmocka_unit_test(a_message_has_a_largest_size),
		cmocka_unit_test(an_envelope_cut_short_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
