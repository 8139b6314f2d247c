/* one confirm for many requests: whoever hears those learns exactly what others learn one by one */
#include "bus/base/text.h"
#include "tests/unit/broker/desk.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>

enum { REQUESTS = 400 };

struct told {
	bool told;
	ConfirmKind kind;
	uint64_t seq;
};

static void hello(struct peer *peer, bool hears_further)
{
	Hello *hello = calloc(1, sizeof(*hello));

	TEXT_COPY(hello->run, "run");
	hello->hears_further = hears_further;
	peer_say_hello(peer, hello);
	peer_credit(peer, REQUESTS, 0);
	free(hello);
}

/* What was learnt of each request; how many confirms it took. */
static int take_apart(const struct peer *peer, struct told told[REQUESTS + 1])
{
	int confirms = 0;

	memset(told, 0, (REQUESTS + 1) * sizeof(*told));
	for (int i = 0; i < peer->count; i++) {
		const Down *down = &peer->tray[i]->down;
		const Confirm *confirm = &down->what.confirm;

		if (down->which_what != Down_confirm_tag)
			continue;
		confirms++;
		for (uint32_t after = 0; after <= confirm->further; after++) {
			uint64_t request = confirm->request + after;

			assert_in_range(request, 1, REQUESTS);
			assert_false(told[request].told);
			told[request] = (struct told){ true, confirm->kind, confirm->seq ? confirm->seq + after : 0 };
		}
	}
	return confirms;
}

static void what_follows_is_confirmed_along(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *other = peer_new(desk, "door", "d");
	struct told told[REQUESTS + 1];

	(void)state;
	hello(talker, true);
	hello(other, false);
	for (int i = 0; i < 5; i++)
		PUBLISH(talker, .topic = "work");
	for (int i = 0; i < 3; i++)
		PUBLISH(other, .topic = "work");
	desk_work(desk);
	assert_int_equal(take_apart(talker, told), 1);
	assert_int_equal(told[5].seq, 5);
	assert_int_equal(take_apart(other, told), 3); /* it never said that it understands */
	assert_int_equal(told[3].seq, 8);
	desk_close(desk);
}

/* Somebody else's message, a duplicate, a refusal, a claim: each of them is told by itself. */
static void what_does_not_follow_is_not(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *other = peer_new(desk, "talker", "u");
	struct told told[REQUESTS + 1];

	(void)state;
	hello(talker, true);
	hello(other, true);
	PUBLISH(talker, .topic = "work", .idem = "once");
	PUBLISH(other, .topic = "work");
	PUBLISH(talker, .topic = "work");
	PUBLISH(talker, .topic = "work", .idem = "once");
	PUBLISH(talker, .topic = "lonely");
	PUBLISH(talker, .topic = "work");
	PUBLISH(talker, .topic = "claim", .claim = true, .idem = "mine");
	PUBLISH(talker, .topic = "work");
	desk_work(desk);
	assert_int_equal(take_apart(talker, told), 7);
	assert_int_equal(told[2].seq, 3);
	assert_int_equal(told[3].kind, CONFIRM_DUPLICATE);
	assert_int_equal(told[3].seq, 1);
	assert_int_equal(told[4].kind, CONFIRM_REFUSED);
	assert_int_equal(told[5].seq, 4);
	assert_int_equal(told[7].seq, 6);
	desk_close(desk);
}

/* Turns with and without facts, in any order; what they say follows by number only if each says one message, or none. */
static void settle_some(struct peer *worker, const Receipt *receipt)
{
	static const struct words facts[] = { { .topic = "fact" }, { .topic = "fact", .idem = "f" } };
	uint32_t count = (uint32_t)rand() % 4 == 0 ? (uint32_t)rand() % 3 : 0;

	peer_turn(
		worker, receipt, &(struct verdict_words){ .kind = VERDICT_DONE, .facts = facts, .fact_count = count });
}

/* The same script, whatever the worker hears: its answers. */
static int play(bool hears_further, struct told told[REQUESTS + 1])
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	int confirms;

	srand(7);
	hello(talker, hears_further);
	hello(worker, hears_further);
	for (int i = 0; i < REQUESTS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		PUBLISH(talker, .topic = "work", .key = key);
	}
	desk_work(desk);
	for (int i = 0; i < REQUESTS; i++) {
		settle_some(worker, &peer_delivery(worker)->down.what.delivery.receipt);
		if (rand() % 20 == 0)
			desk_work(desk);
	}
	desk_work(desk);
	confirms = take_apart(worker, told);
	desk_close(desk);
	return confirms;
}

static void every_turn_gets_the_same_answer_either_way(void **state)
{
	struct told along[REQUESTS + 1], alone[REQUESTS + 1];
	int confirms = play(true, along);

	(void)state;
	assert_int_equal(play(false, alone), REQUESTS);
	assert_in_range(confirms, 1, REQUESTS / 2);
	for (int i = 1; i <= REQUESTS; i++) {
		assert_true(along[i].told && alone[i].told);
		assert_int_equal(along[i].kind, alone[i].kind);
		assert_int_equal(along[i].seq, alone[i].seq);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_follows_is_confirmed_along),
		cmocka_unit_test(what_does_not_follow_is_not),
		cmocka_unit_test(every_turn_gets_the_same_answer_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
