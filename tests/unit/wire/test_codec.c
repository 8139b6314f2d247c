/* heads and envelopes by tables: what nanopb writes and reads, and nothing else */
#include "any_message.h"
#include "bus.pb.h"
#include "bus/wire/codec.h"
#include <errno.h>

enum { ROUNDS = 20000 };

static const struct {
	const pb_msgdesc_t *fields;
	size_t size;
} kinds[] = { { Up_fields, sizeof(Up) }, { Down_fields, sizeof(Down) }, { Envelope_fields, sizeof(Envelope) },
	{ FrameHead_fields, sizeof(FrameHead) }, { Heartbeat_fields, sizeof(Heartbeat) },
	{ Hello_fields, sizeof(Hello) } };
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void it_writes_and_reads_what_nanopb_does(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		one_is_written_and_read_as_by_nanopb(kinds[i % KINDS].fields, kinds[i % KINDS].size);
}

static void what_nanopb_refuses_it_refuses(void **state)
{
	int refused = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		refused += a_damaged_one_is_read_as_by_nanopb(kinds[i % KINDS].fields, kinds[i % KINDS].size);
	assert_in_range(refused, ROUNDS / 20, ROUNDS - ROUNDS / 20);
}

/* One more than the list has room for, of which the last is the wrong one. */
static void a_list_that_is_too_long_is_refused(void **state)
{
	enum { MOST = sizeof((Hello){ 0 }.held) / sizeof(HeldLease) };
	static uint8_t bytes[2 * (MOST + 1)];
	static Hello hello;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i += 2)
		bytes[i] = Hello_held_tag << 3 | 2; /* of length 0 */
	memset(hello.held, 0xaa, sizeof(hello.held));
	assert_int_equal(codec_read(codec_of(Hello_fields), BYTES(bytes, sizeof(bytes) - 2), &hello), 0);
	assert_int_equal(hello.held_count, MOST);
	assert_int_equal(hello.held[MOST - 1].seq, 0);
	assert_int_equal(codec_read(codec_of(Hello_fields), BYTES(bytes, sizeof(bytes)), &hello), -EBADMSG);
}

static void what_is_not_known_is_skipped(void **state)
{
	static const uint8_t bytes[] = { 0x7a, 3, 'n', 'e', 'w', 0x71, 1, 2, 3, 4, 5, 6, 7, 8, 0x75, 1, 2, 3, 4, 0x68,
		5, 0x08, 9 };
	FrameHead head;

	(void)state;
	assert_int_equal(codec_read(codec_of(FrameHead_fields), BYTES(bytes, sizeof(bytes)), &head), 0);
	assert_int_equal(head.epoch, 9);
}

static void a_text_that_does_not_fit_is_refused(void **state)
{
	uint8_t bytes[2 + sizeof(((Envelope *)0)->topic)] = { 0x0a, sizeof(((Envelope *)0)->topic) };
	Envelope envelope;

	(void)state;
	memset(bytes + 2, 't', sizeof(bytes) - 2);
	assert_int_equal(codec_read(codec_of(Envelope_fields), BYTES(bytes, sizeof(bytes)), &envelope), -EBADMSG);
	bytes[1]--;
	assert_int_equal(codec_read(codec_of(Envelope_fields), BYTES(bytes, sizeof(bytes) - 1), &envelope), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_writes_and_reads_what_nanopb_does),
		cmocka_unit_test(what_nanopb_refuses_it_refuses),
		cmocka_unit_test(a_list_that_is_too_long_is_refused),
		cmocka_unit_test(what_is_not_known_is_skipped),
		cmocka_unit_test(a_text_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
