/*
 * test_large.c: a row of 256 KB is kept and folded again; a row that would become too large is refused in words
 *
 * The same tests run in the simulator and with a real broker (world.h). The large row is piled up from parts, because one message holds
 * less than 64 KB: Debian builds nanopb so.
 */
#include "bus.pb.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "proto/platform_topics.h"
#include "tests/unit/actor/world.h"
#include "tests/unit/cmocka_all.h"
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PART = sizeof(((Document *)0)->text) - 1,
	PARTS_OF_256_KB = (256 << 10) / PART + 1,
	PARTS_MOST = STATE_ROW_BYTES_MAX / PART /* more do not fit into one row */
};
#define SHOP "shop"
STATE_STRINGS(piles, "pile");

TOPIC_DECLARE(large_part, Document);
TOPIC_DECLARE(large_asked, Document);
TOPIC_DEFINE(large_part, "large.part", Document, RETAIN_FACT, NULL);
TOPIC_DEFINE(large_asked, "large.asked", Document, RETAIN_FACT, NULL);

/* --- a service that piles all parts of one key up in one row --- */

static void pile_up(struct state *state, const struct message_meta *said, const Document *part)
{
	struct buffer pile = { 0 };

	STATE_GET_STRING(state, piles, said->shop, said->key, &pile);
	buffer_add_text(&pile, part->text);
	STATE_PUT_STRING(state, piles, said->shop, said->key, buffer_bytes(&pile));
	buffer_free(&pile);
}

static enum verdict hear_asked(const struct state *state, const Document *part, struct turn *turn)
{
	int count = part->text[0] ? 1 : (int)part->version; /* without a text: so many */

	(void)state;
	for (int i = 0; i < count; i++)
		turn_publish(turn, &topic_large_part, &(struct publish_options){ .shop = SHOP, .key = "asked" }, part);
	return TURN_DONE;
}

static const struct service keeper = { .name = "keeper",
	.hears = HEARING(HEARS(large_asked, hear_asked)),
	.remembers = REMEMBERING(REMEMBERS(large_part, pile_up)),
	.says = SAYING(SAYS(large_part)) };
static const struct service *const services[] = { &keeper, NULL };

static void say_parts(struct world *world, const struct topic *topic, const char *key, int count)
{
	Document *part = memory_new(sizeof(*part));
	struct publish_options how = { .shop = SHOP, .key = key };

	for (int i = 0; i < count; i++) {
		memset(part->text, 'a' + i % 26, PART);
		assert_int_equal(world_say(world, topic, &how, part, NULL), SAID_FRESH);
	}
	free(part);
}

struct wanted {
	const char *key;
	size_t parts;
};

/* The whole pile is there, each part in its place. */
static bool has_pile(struct world *world, void *context)
{
	const struct wanted *wanted = context;
	struct buffer pile = { 0 };
	bool has = STATE_GET_STRING(runtime_state(world_runtime(world, "keeper")), piles, SHOP, wanted->key, &pile) &&
		pile.len == wanted->parts * PART;

	for (size_t i = 0; has && i < pile.len; i++)
		has = pile.data[i] == 'a' + i / PART % 26;
	buffer_free(&pile);
	return has;
}

static bool wait_for_pile(struct world *world, const char *key, size_t parts)
{
	struct wanted wanted = { key, parts };

	return world_until(world, has_pile, &wanted);
}

static struct world *open_world(void)
{
	struct world *world = world_new(services, 1);

	world_start(world, "keeper", &keeper, NULL);
	return world;
}

static void start_anew(struct world *world, bool forget)
{
	world_kill(world, "keeper");
	if (forget)
		world_forget(world, "keeper");
	world_restart(world, "keeper");
}

static void a_row_of_256_kb_is_kept_over_restarts_and_is_folded_anew(void **context)
{
	struct world *world = open_world();

	(void)context;
	say_parts(world, &topic_large_part, "a", PARTS_OF_256_KB);
	say_parts(world, &topic_large_part, "b", PARTS_MOST);
	assert_true(wait_for_pile(world, "a", PARTS_OF_256_KB));
	assert_true(wait_for_pile(world, "b", PARTS_MOST));
	world_for(world, 2 * US_PER_S); /* it writes its state now and then */
	start_anew(world, false);
	assert_true(wait_for_pile(world, "a", PARTS_OF_256_KB));
	assert_true(wait_for_pile(world, "b", PARTS_MOST));
	world_kill_broker(world);
	world_restart_broker(world);
	start_anew(world, true);
	assert_true(wait_for_pile(world, "a", PARTS_OF_256_KB));
	assert_true(wait_for_pile(world, "b", PARTS_MOST));
	world_free(world);
}

static void a_row_that_would_become_too_large_stays_and_the_service_goes_on(void **context)
{
	struct world *world = open_world();

	(void)context;
	say_parts(world, &topic_large_part, "told", PARTS_MOST + 2);
	say_parts(world, &topic_large_part, "behind", 1);
	assert_true(wait_for_pile(world, "behind", 1));
	assert_true(wait_for_pile(world, "told", PARTS_MOST));
	assert_int_equal(runtime_metrics(world_runtime(world, "keeper")).rows_refused, 2);
	start_anew(world, true);
	assert_true(wait_for_pile(world, "behind", 1));
	assert_true(wait_for_pile(world, "told", PARTS_MOST));
	world_free(world);
}

struct dead {
	int count, parts; /* letters; parts that the log holds */
	char reason[256];
};

static void note_dead(const struct message_meta *said, struct bytes payload, void *context)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);
	DeadLetter letter;
	struct dead *dead = context;

	dead->parts += strcmp(said->topic, topic_large_part.name) == 0;
	if (strcmp(said->topic, "dead.letter") != 0)
		return;
	assert_true(pb_decode(&stream, DeadLetter_fields, &letter));
	dead->count++;
	TEXT_COPY(dead->reason, letter.reason);
}

static bool is_dead(struct world *world, void *context)
{
	struct dead *dead = context;

	*dead = (struct dead){ 0 };
	world_log(world, note_dead, dead);
	return dead->count > 0;
}

/* All are of one key, so one is decided on after the other. */
static void a_decision_that_would_make_a_row_too_large_is_a_dead_letter_that_says_so(void **context)
{
	struct world *world = open_world();
	struct dead dead;

	(void)context;
	say_parts(world, &topic_large_asked, "k", PARTS_MOST + 1);
	assert_true(world_until(world, is_dead, &dead));
	assert_int_equal(dead.count, 1);
	assert_non_null(strstr(dead.reason, "a row of table pile would have "));
	assert_non_null(strstr(dead.reason, "a row holds at most 1048576"));
	assert_int_equal(dead.parts, PARTS_MOST);
	say_parts(world, &topic_large_part, "behind", 1);
	assert_true(wait_for_pile(world, "behind", 1));
	assert_true(wait_for_pile(world, "asked", PARTS_MOST));
	world_free(world);
}

static void a_turn_says_so_many_facts_and_with_more_it_is_a_dead_letter_that_says_so(void **context)
{
	struct world *world = open_world();
	const struct publish_options how = { .shop = SHOP, .key = "k" };
	Document *asked = memory_new(sizeof(*asked));
	struct dead dead;

	(void)context;
	asked->version = TURN_FACTS_MAX;
	assert_int_equal(world_say(world, &topic_large_asked, &how, asked, NULL), SAID_FRESH);
	asked->version = TURN_FACTS_MAX + 1;
	assert_int_equal(world_say(world, &topic_large_asked, &how, asked, NULL), SAID_FRESH);
	assert_true(world_until(world, is_dead, &dead));
	assert_int_equal(dead.count, 1);
	assert_non_null(strstr(dead.reason, "the decision says 4097 facts, and a turn holds at most 4096"));
	assert_int_equal(dead.parts, TURN_FACTS_MAX);
	free(asked);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_of_256_kb_is_kept_over_restarts_and_is_folded_anew),
		cmocka_unit_test(a_row_that_would_become_too_large_stays_and_the_service_goes_on),
		cmocka_unit_test(a_decision_that_would_make_a_row_too_large_is_a_dead_letter_that_says_so),
		cmocka_unit_test(a_turn_says_so_many_facts_and_with_more_it_is_a_dead_letter_that_says_so),
	};

	return cmocka_run_group_tests_name("actor.large", tests, NULL, NULL);
}
