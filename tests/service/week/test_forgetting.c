/*
 * test_forgetting.c: what the log forgets, its services forget, at the same place: a store that was kept over the retention is the
 * one that is folded anew from what the log still holds. And a stop outlives the longest chase.
 *
 * More than a year goes by in jumps; at each, shoppers leave carts that come to every end there is.
 */
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "plan.h"
#include "postman.h"
#include "services/carts/exporter/exporter.h"
#include "services/carts/intake/intake.h"
#include "services/carts/sender/sender.h"
#include "services/carts/summarizer/summarizer.h"
#include "services/carts/waiter/waiter.h"
#include "services/kit/effect/file_driver.h"
#include "services/platform/mirror/mirror.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/timer/timer.h"
#include "services/platform/unsub/unsub.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <pb_decode.h>
#include <stdlib.h>
#include <string.h>

static const struct service *const services[] = { &intake, &timer, &waiter, &unsub, &sender, &exporter, &summarizer,
	&mirror, &monitor, NULL };

enum { ROUND_DAYS = 20, A_YEAR_AND_MORE = 23 };

static const char SHOP[] = "south"; /* no quiet hours; big carts wait an hour, then 20 */

struct world {
	struct sim *sim;
	struct mailbox *mailbox;
	struct postman *postman, *teller;
	struct effect_driver *writing[2], *telling[3];
	struct folder folder;
	struct sender sender;
	struct exporter exporter;
	struct summarizer summarizer;
	struct mirror mirror;
	struct monitor monitor;
	int said; /* so far: idempotency keys */
};

static struct world the_world;

static void later(struct world *world, int64_t us)
{
	sim_freeze(world->sim, us);
	sim_run_until(world->sim, sim_now_us(world->sim) + US_PER_MINUTE);
}

static struct effect_driver *const *drivers_of(struct world *world, const struct service *service)
{
	if (service == &sender)
		return postman_drivers(world->postman);
	if (service == &exporter)
		return world->writing;
	return service == &summarizer ? world->telling : NULL;
}

static struct service_context context_of(const struct world *world, const struct service *service)
{
	if (service == &sender)
		return sender_in(&world->sender);
	if (service == &exporter)
		return exporter_in(&world->exporter);
	if (service == &summarizer)
		return summarizer_in(&world->summarizer);
	if (service == &mirror)
		return mirror_in(&world->mirror);
	if (service == &monitor)
		return monitor_in(&world->monitor);
	return (struct service_context){ .service = service };
}

static struct world *world_new(void)
{
	struct world *world = &the_world;

	world->folder = folder_new();
	world->sim = sim_new(services, WEEK_START_US, 11);
	world->mailbox = mailbox_new();
	world->postman = postman_new(sim_clock(world->sim), world->mailbox, FAIR);
	world->teller = postman_new(sim_clock(world->sim), world->mailbox, FAIR);
	world->writing[0] = world->telling[0] = world->writing[0] ? world->writing[0] : file_driver_new();
	world->telling[1] = postman_drivers(world->teller)[0];
	sender_set_up(&world->sender,
		&(struct sender_setup){ .public_url = "https://mail.example",
			.link_key = bytes_of("0123456789abcdef0123456789abcdef") });
	world->exporter =
		exporter_of(world->folder.path, "https://carts.example", bytes_of("0123456789abcdef0123456789abcdef"));
	mirror_init(&world->mirror);
	world->monitor.clock_rate = 1;
	TEXT_COPY(world->summarizer.folder, world->folder.path);
	for (int i = 0; services[i]; i++)
		sim_start_in(
			world->sim, services[i]->name, context_of(world, services[i]), drivers_of(world, services[i]));
	plan_open_shops(world->sim);
	return world;
}

static void world_end(struct world *world)
{
	sim_free(world->sim);
	postman_free(world->postman);
	postman_free(world->teller);
	mailbox_free(world->mailbox);
	folder_remove(&world->folder);
}

/* ---- what happens ---- */

static CartChanged a_change(const struct world *world, const char *token, const char *shopper)
{
	CartChanged changed = { .has_ids = true,
		.platform = PLATFORM_SHOPIFY,
		.platform_topic = "carts/update",
		.changed_us = sim_now_us(world->sim) - US_PER_S,
		.heard_us = sim_now_us(world->sim),
		.has_items = true,
		.items_count = 1,
		.items = { { .title = "Thing", .variant_id = "v1", .quantity = 1, .price_minor = 20000 } },
		.has_total = true,
		.total_minor = 20000,
		.currency = "EUR",
		.recovery_url = "https://south.example/cart" };

	TEXT_COPY(changed.ids.cart_token, token);
	if (*shopper) {
		snprintf(changed.ids.email, sizeof(changed.ids.email), "%.30s@buyer.example", shopper);
		snprintf(changed.ids.email_hash, sizeof(changed.ids.email_hash), "h-%.30s", shopper);
	}
	return changed;
}

#define TELL(world, topic, message, key_)                                                                              \
	do {                                                                                                           \
		char idem[32];                                                                                         \
		snprintf(idem, sizeof(idem), "n%d", (world)->said++);                                                  \
		assert_int_equal(SIM_SAY((world)->sim, topic, (message), .shop = SHOP, .key = (key_), .idem = idem),   \
			SAID_FRESH);                                                                                   \
	} while (0)

static void leave(struct world *world, const char *token, const char *shopper)
{
	CartChanged changed = a_change(world, token, shopper);

	TELL(world, cart_changed, &changed, token);
}

static void buy(struct world *world, const char *token, const char *shopper)
{
	CartCheckout checkout = { .has_ids = true,
		.bought_us = sim_now_us(world->sim),
		.heard_us = sim_now_us(world->sim),
		.total_minor = 20000,
		.currency = "EUR" };

	snprintf(checkout.ids.order_id, sizeof(checkout.ids.order_id), "o%d", world->said);
	TEXT_COPY(checkout.ids.cart_token, token);
	if (*shopper)
		snprintf(checkout.ids.email_hash, sizeof(checkout.ids.email_hash), "h-%.30s", shopper);
	TELL(world, cart_checkout, &checkout, *token ? token : checkout.ids.order_id);
}

static void act(struct world *world, AdminVerb verb, const char *cart_id, int64_t first_us, int64_t second_us)
{
	AdminAction action = { .verb = verb,
		.who = "owner",
		.reason = "planned",
		.at_us = sim_now_us(world->sim),
		.has_wait_override = first_us > 0,
		.wait_override = { first_us, second_us } };

	TEXT_COPY(action.cart_id, cart_id);
	TELL(world, admin_action, &action, cart_id);
}

struct names {
	char left[16], bought[16], paid[16], gone[16], empty[16], other[16], nameless[16], owned[16];
};

static struct names names_of(int round)
{
	struct names names;

	snprintf(names.left, sizeof(names.left), "left%d", round);
	snprintf(names.bought, sizeof(names.bought), "bought%d", round);
	snprintf(names.paid, sizeof(names.paid), "paid%d", round);
	snprintf(names.gone, sizeof(names.gone), "gone%d", round);
	snprintf(names.empty, sizeof(names.empty), "empty%d", round);
	snprintf(names.other, sizeof(names.other), "other%d", round);
	snprintf(names.nameless, sizeof(names.nameless), "none%d", round);
	snprintf(names.owned, sizeof(names.owned), "owned%d", round);
	return names;
}

static void leave_all(struct world *world, const struct names *names)
{
	CartChanged tied = a_change(world, names->other, names->other);

	leave(world, names->left, names->left);
	leave(world, names->bought, names->bought);
	leave(world, names->paid, names->paid);
	leave(world, names->gone, names->gone);
	leave(world, names->empty, names->empty);
	leave(world, names->other, names->other);
	leave(world, names->nameless, "");
	leave(world, names->owned, "regular"); /* the same shopper each time */
	tied.ids.cart_token[0] = '\0';
	TEXT_COPY(tied.ids.checkout_token, names->other);
	TELL(world, cart_changed, &tied, names->other);
	sim_run_until(world->sim, sim_now_us(world->sim) + US_PER_MINUTE);
}

/* Two rows become one; a cart is emptied; the others come to their ends. */
static void end_some(struct world *world, const struct names *names)
{
	CartChanged tied = a_change(world, names->other, names->other), emptied = a_change(world, names->empty, "");
	OptoutRequest asked = { .heard_us = sim_now_us(world->sim), .source = OPTOUT_PAGE };

	TEXT_COPY(tied.ids.checkout_token, names->other);
	TELL(world, cart_changed, &tied, names->other);
	emptied.items_count = 0;
	TELL(world, cart_changed, &emptied, names->empty);
	buy(world, names->bought, "");
	buy(world, "", names->paid);
	snprintf(asked.address_hash, sizeof(asked.address_hash), "h-%s", names->gone);
	TELL(world, optout_request, &asked, asked.address_hash);
	act(world, ADMIN_SUPPRESS_CART, names->owned, 0, 0);
}

static void live_a_round(struct world *world, int round)
{
	struct names names = names_of(round);
	Alarm alarm = { .kind = "document.voice", .raised = round % 2 == 0, .text = "planned" };

	leave_all(world, &names);
	later(world, 30 * US_PER_MINUTE);
	end_some(world, &names);
	alarm.at_us = sim_now_us(world->sim);
	assert_int_equal(
		SIM_SAY(world->sim, alarm, &alarm, .shop = SHOP, .key = alarm.kind, .version = (uint64_t)alarm.at_us),
		SAID_FRESH);
	later(world, 31 * US_PER_MINUTE); /* the first mails */
	later(world, 20 * US_PER_HOUR);   /* the second */
	later(world, 26 * US_PER_HOUR);   /* given up */
	later(world, (ROUND_DAYS - 2) * US_PER_DAY);
}

/* ---- what is remembered ---- */

static const struct state *state_of(const struct world *world, const char *service)
{
	return runtime_state(sim_runtime(world->sim, service));
}

/* Of the timer's index of what is due next one row is only a hint where to begin, and says how many rows were taken out. */
static bool is_a_hint(const char *service, const char *line)
{
	return strcmp(service, "timer") == 0 && text_starts(line, "head/");
}

/* Of what the metrics page counts since ever a fold of what is left knows only that: nothing is decided on it (totals.h). */
static bool is_a_count_to_look_at(const char *service, const char *line)
{
	return strcmp(service, "monitor") == 0 && text_starts(line, "totals/");
}

static char *next_line(const char *service, char **at)
{
	char *line;

	do
		line = strsep(at, "\n");
	while (line && (is_a_hint(service, line) || is_a_count_to_look_at(service, line)));
	return line ? line : "(no more)";
}

static void check_equal(const char *service, struct buffer *kept, struct buffer *anew)
{
	char *a = (char *)kept->data, *b = (char *)anew->data;

	while (a || b) {
		const char *of_kept = next_line(service, &a), *of_anew = next_line(service, &b);

		if (strcmp(of_kept, of_anew) != 0)
			fail_msg("%s: kept, it holds\n%.300s\nfolded anew\n%.300s", service, of_kept, of_anew);
	}
}

static void dump(const struct world *world, const char *service, struct buffer *ret)
{
	state_dump(state_of(world, service), ret);
	buffer_add(ret, "", 1);
}

static void fold_anew(struct world *world, const char *service)
{
	sim_kill(world->sim, service);
	sim_forget(world->sim, service);
	sim_restart(world->sim, service);
	sim_run_until(world->sim, sim_now_us(world->sim) + US_PER_MINUTE);
}

static void check_each_service(struct world *world)
{
	for (int i = 0; services[i]; i++) {
		const char *service = services[i]->name;
		struct buffer kept = { 0 }, anew = { 0 };

		dump(world, service, &kept);
		fold_anew(world, service);
		assert_int_equal(runtime_phase(sim_runtime(world->sim, service)), RUNTIME_READY);
		dump(world, service, &anew);
		check_equal(service, &kept, &anew);
		buffer_free(&kept);
		buffer_free(&anew);
	}
}

static bool knows_cart(const struct world *world, const char *service, const char *cart_id)
{
	return state_has(state_of(world, service), "cart", SHOP, cart_id);
}

static void live(struct world *world, int rounds)
{
	leave(world, "patient", "patient");
	sim_run_until(world->sim, sim_now_us(world->sim) + US_PER_MINUTE);
	act(world, ADMIN_OVERRIDE_WAIT, "patient", 700 * US_PER_DAY, 710 * US_PER_DAY);
	for (int i = 0; i < rounds; i++)
		live_a_round(world, i);
}

static void what_is_open_stays_and_what_was_closed_leaves(struct world *world)
{
	static const char *const keep_rows[] = { "intake", "waiter" };

	for (int i = 0; i < 2; i++) {
		assert_true(knows_cart(world, keep_rows[i], "patient"));
		assert_false(knows_cart(world, keep_rows[i], "left0"));
		assert_false(knows_cart(world, keep_rows[i], "bought0"));
		assert_true(knows_cart(world, keep_rows[i], "left10"));
	}
	assert_true(state_has(state_of(world, "sender"), "sends", SHOP, "left0/1")); /* for ever */
	assert_true(state_has(state_of(world, "unsub"), "suppressed", SHOP, "h-gone0"));
	assert_false(state_has(state_of(world, "summarizer"), "ledger.mails", SHOP, "left0"));
}

static void a_store_that_was_kept_over_the_retention_is_the_one_that_is_folded_anew(void **state)
{
	struct world *world = world_new();

	(void)state;
	live(world, A_YEAR_AND_MORE);
	what_is_open_stays_and_what_was_closed_leaves(world);
	check_each_service(world);
	what_is_open_stays_and_what_was_closed_leaves(world);
	world_end(world);
}

static void so_it_is_when_only_what_is_raw_was_forgotten(void **state)
{
	struct world *world = world_new();

	(void)state;
	live(world, 3);
	assert_true(knows_cart(world, "intake", "left0"));
	check_each_service(world);
	world_end(world);
}

/* ---- a stop is older than anything that is forgotten ---- */

struct counted {
	int claims, skipped;
};

static void count(const struct message_meta *said, struct bytes payload, void *context)
{
	struct counted *counted = context;

	(void)payload;
	counted->claims += strcmp(said->topic, topic_send_claim.name) == 0;
	counted->skipped += strcmp(said->topic, topic_reminder_skipped.name) == 0;
}

static struct counted counted(struct world *world)
{
	struct counted all = { 0 };

	sim_log(world->sim, count, &all);
	return all;
}

/* A cart that intake heard of only after its shopper had bought: nothing but the purchase itself says so. */
static void leave_late(struct world *world, bool bought)
{
	CartChanged changed = a_change(world, "late", "late");

	if (bought)
		buy(world, "", "late");
	changed.changed_us -= 10 * US_PER_MINUTE;
	TELL(world, cart_changed, &changed, "late");
	sim_run_until(world->sim, sim_now_us(world->sim) + US_PER_MINUTE);
	act(world, ADMIN_OVERRIDE_WAIT, "late", 399 * US_PER_DAY, 400 * US_PER_DAY);
}

static struct counted a_long_chase(struct world *world, bool bought)
{
	leave_late(world, bought);
	for (int i = 0; i < 9; i++)
		later(world, 44 * US_PER_DAY);
	fold_anew(world, "waiter");
	fold_anew(world, "sender");
	later(world, 3 * US_PER_DAY);
	return counted(world);
}

static void decide_wrongly(struct world *world)
{
	static ReminderDue due;

	due = (ReminderDue){ .has_cart = true, .step = 1, .decided_us = sim_now_us(world->sim) };
	assert_true(state_get(state_of(world, "waiter"), "cart", SHOP, "late", &CartState_msg, &due.cart));
	assert_int_equal(SIM_SAY(world->sim, reminder_due, &due, .shop = SHOP, .key = "h-late"), SAID_FRESH);
	sim_run_until(world->sim, sim_now_us(world->sim) + US_PER_MINUTE);
}

static void an_old_stop_still_forbids_the_claim(void **state)
{
	struct world *world = world_new();
	struct counted all = a_long_chase(world, true);

	(void)state;
	assert_int_equal(all.claims, 0);
	assert_int_equal(all.skipped, 0); /* the waiter knew it */
	decide_wrongly(world);
	all = counted(world);
	assert_int_equal(all.claims, 0);
	assert_int_equal(all.skipped, 1); /* the sender, too */
	world_end(world);
}

static void without_it_the_long_chase_ends_in_a_mail(void **state)
{
	struct world *world = world_new();

	(void)state;
	assert_int_equal(a_long_chase(world, false).claims, 1);
	world_end(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_that_was_kept_over_the_retention_is_the_one_that_is_folded_anew),
		cmocka_unit_test(so_it_is_when_only_what_is_raw_was_forgotten),
		cmocka_unit_test(an_old_stop_still_forbids_the_claim),
		cmocka_unit_test(without_it_the_long_chase_ends_in_a_mail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
