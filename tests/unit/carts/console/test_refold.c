/* test_refold.c: what the pages fold follows from the log alone, however it was read, and from what its compaction leaves */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "world.h"
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CARTS = 12, STEPS = 250, SEEDS = 6 };

struct made {
	struct sim *sim;
	uint64_t versions[CARTS];
	uint32_t attempts[CARTS];
	int64_t now_us;
};

static const char *id_of(int n, char ret[16])
{
	snprintf(ret, 16, "cart%02d", n);
	return ret;
}

static void say_cart(struct made *made, int n)
{
	static const char *const emails[] = { "", "ann@buyer.example", "ben@buyer.example" };
	char id[16], into[16];
	uint64_t what = sim_random(made->sim) % 10;
	struct a_cart from = { .id = id_of(n, id),
		.email = emails[sim_random(made->sim) % 3],
		.left_us = made->now_us - (int64_t)(sim_random(made->sim) % 50) * US_PER_DAY,
		.total_minor = 100 + (int64_t)(sim_random(made->sim) % 9000),
		.currency = sim_random(made->sim) % 2 ? "USD" : "EUR",
		.version = ++made->versions[n] };
	CartState *cart;

	if (what < 3) {
		from.status = CART_BOUGHT;
		from.bought_us = made->now_us;
		from.order_minor = from.total_minor;
		from.refunded_minor = what == 0 ? 50 : 0;
	} else if (what < 5) {
		from.status = CART_CLOSED;
		from.closed_reason = what == 3 ? CLOSED_GAVE_UP : CLOSED_OPTED_OUT;
	} else if (what == 5 && n > 0) {
		from.merged_into = id_of(n - 1, into);
	}
	cart = cart_of(&from);
	SIM_SAY(made->sim, cart_state, cart, .shop = DEMO, .key = id, .version = from.version,
		.tombstone = cart->status != CART_OPEN);
	free(cart);
}

static void say_timer(struct made *made, int n)
{
	char id[16];
	CartWake wake = { .revision = made->versions[n], .due_us = made->now_us + US_PER_HOUR };
	TimerSet set = { .version = ++made->versions[n], .due_us = wake.due_us, .topic = "cart.wake" };
	TimerFired fired = { .version = set.version };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	TEXT_COPY(wake.cart_id, id_of(n, id));
	snprintf(set.name, sizeof(set.name), "cart/%s", id);
	TEXT_COPY(fired.name, set.name);
	assert_true(pb_encode(&stream, &CartWake_msg, &wake));
	set.payload.size = (pb_size_t)stream.bytes_written;
	SIM_SAY(made->sim, timer_set, &set, .shop = DEMO, .key = set.name, .version = set.version);
	if (sim_random(made->sim) % 2)
		SIM_SAY(made->sim, timer_fired, &fired, .shop = DEMO, .key = set.name, .version = set.version,
			.tombstone = true);
}

static void say_outcome(struct made *made, int n)
{
	ReminderOutcome outcome = { .step = 1 + (uint32_t)(sim_random(made->sim) % 2),
		.attempt = ++made->attempts[n],
		.at_us = made->now_us - US_PER_HOUR,
		.address_hash = "h-ann@buyer.example",
		.to_owner = sim_random(made->sim) % 4 == 0 };
	char key[32];

	id_of(n, key);
	TEXT_COPY(outcome.cart_id, key);
	snprintf(key + strlen(key), sizeof(key) - strlen(key), "/%u", (unsigned)outcome.step);
	if (sim_random(made->sim) % 3)
		SIM_SAY(made->sim, reminder_sent, &outcome, .shop = DEMO, .key = key);
	else
		SIM_SAY(made->sim, reminder_ambiguous, &outcome, .shop = DEMO, .key = key);
}

static void say_other(struct made *made, int n)
{
	Suppression fact = { .address_hash = "h-ann@buyer.example", .source = OPTOUT_PAGE, .since_us = made->now_us };
	char id[16];

	id_of(n, id);
	fact.lifted = sim_random(made->sim) % 3 == 0;
	switch (sim_random(made->sim) % 4) {
	case 0:
		SIM_SAY(made->sim, suppression, &fact, .shop = DEMO, .key = fact.address_hash,
			.version = (uint64_t)made->now_us, .tombstone = fact.lifted);
		break;
	case 1: {
		LinkClicked clicked = { .step = 1, .at_us = made->now_us };

		TEXT_COPY(clicked.cart_id, id);
		SIM_SAY(made->sim, link_clicked, &clicked, .shop = DEMO, .key = id);
		break;
	}
	case 2: {
		Audit audit = { .action = "still_shopping", .who = "system", .at_us = made->now_us };

		TEXT_COPY(audit.cart_id, id);
		SIM_SAY(made->sim, audit, &audit, .shop = DEMO, .key = id);
		break;
	}
	default: {
		CartCheckout checkout = { .has_ids = true, .bought_us = made->now_us, .total_minor = 500 };

		TEXT_COPY(checkout.ids.cart_token, id);
		TEXT_COPY(checkout.ids.customer_id, "77");
		SIM_SAY(made->sim, cart_checkout, &checkout, .shop = DEMO, .key = id);
	}
	}
}

/* The rows of the pages; those of the waiter and of the report are theirs. */
static void page_rows(struct sim *sim, const char *instance, struct buffer *ret)
{
	struct buffer all = { 0 };
	char *rest, *line;

	state_dump(runtime_state(sim_runtime(sim, instance)), &all);
	buffer_text(&all);
	rest = (char *)all.data;
	while ((line = strsep(&rest, "\n")))
		if (text_starts(line, "page."))
			buffer_printf(ret, "%s\n", line);
	buffer_free(&all);
}

static void assert_same(struct sim *sim, const char *one, const char *other)
{
	struct buffer left = { 0 }, right = { 0 };

	page_rows(sim, one, &left);
	page_rows(sim, other, &right);
	assert_true(left.len > 1000);
	assert_string_equal(buffer_text(&left), buffer_text(&right));
	buffer_free(&left);
	buffer_free(&right);
}

static void make_history(struct made *made)
{
	for (int i = 0; i < STEPS; i++) {
		int n = (int)(sim_random(made->sim) % CARTS);

		made->now_us = sim_now_us(made->sim);
		switch (sim_random(made->sim) % 5) {
		case 0:
		case 1:
			say_cart(made, n);
			break;
		case 2:
			say_timer(made, n);
			break;
		case 3:
			say_outcome(made, n);
			break;
		default:
			say_other(made, n);
		}
		if (sim_random(made->sim) % 4 == 0)
			sim_run_until(made->sim, made->now_us + (int64_t)(sim_random(made->sim) % 20) * US_PER_HOUR);
	}
	sim_run_until_idle(made->sim);
}

static void a_store_that_is_folded_anew_has_the_rows_of_the_one_that_was_kept(void **context)
{
	static const struct service *const services[] = { &pages, NULL };

	(void)context;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct made made = { .sim = sim_new(services, NOW_US, seed) };

		sim_start(made.sim, "kept", &pages, NULL);
		make_history(&made);
		sim_start(made.sim, "newcomer", &pages, NULL);
		sim_run_until_idle(made.sim);
		assert_same(made.sim, "kept", "newcomer");
		sim_kill(made.sim, "kept");
		sim_forget(made.sim, "kept");
		sim_restart(made.sim, "kept");
		sim_run_until_idle(made.sim);
		assert_same(made.sim, "kept", "newcomer");
		sim_free(made.sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_that_is_folded_anew_has_the_rows_of_the_one_that_was_kept),
	};

	return cmocka_run_group_tests_name("carts.console.refold", tests, NULL, NULL);
}
