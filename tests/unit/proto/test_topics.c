/* what services say, by tables: what nanopb writes and reads, whatever the topic */
#include "proto/topics.h"
#include "tests/unit/wire/any_message.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_topics_message_is_written_and_read_as_by_nanopb),
		cmocka_unit_test(a_damaged_message_is_read_as_by_nanopb_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
