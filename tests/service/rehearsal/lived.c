/*
 * lived.c: a week at two storefronts in which everything happens that may come between a rule and a mail
 */
#include "lived.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "postman.h"
#include "services/carts/intake/intake.h"
#include "services/carts/sender/sender.h"
#include "services/carts/waiter/waiter.h"
#include "services/platform/timer/timer.h"
#include "services/platform/unsub/unsub.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

enum { SENDERS = 2 };

static const struct service *const services[] = { &intake, &timer, &waiter, &unsub, &sender, NULL };
static struct mailbox *mailbox;
static struct postman *postmen[SENDERS];

const char lived_north_rules[] =
	"Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big "
	"carts (over $150): 1 hour, then 20. No mail between 10 pm and 8 am.";

/* ---- what happens beside the shoppers' plan ---- */

static void say_rules(struct sim *sim, const char *shop, uint32_t version, const char *text)
{
	static Document document;

	document = (Document){ .version = version, .at_us = sim_now_us(sim), .kind = "rules" };
	TEXT_COPY(document.text, text);
	snprintf(document.digest, sizeof(document.digest), "%016llx", (unsigned long long)text_hash(bytes_of(text)));
	SIM_SAY(sim, document, &document, .shop = shop, .key = "rules", .version = version);
}

static void set_mode(struct sim *sim, const char *shop, ShopMode mode, uint64_t version)
{
	const ShopStatus status = { .mode = mode, .version = version, .at_us = sim_now_us(sim) };

	SIM_SAY(sim, shop_status, &status, .shop = shop, .key = shop, .version = version);
}

static void override(struct sim *sim, const char *shop, const char *cart)
{
	AdminAction action = { .verb = ADMIN_OVERRIDE_WAIT,
		.has_wait_override = true,
		.wait_override = { 90 * US_PER_MINUTE, 9 * US_PER_HOUR },
		.who = "owner",
		.at_us = sim_now_us(sim) };

	TEXT_COPY(action.cart_id, cart);
	SIM_SAY(sim, admin_action, &action, .shop = shop, .key = cart);
}

static void bounce(struct sim *sim, const char *shop, const char *hash, FeedbackKind kind)
{
	MailFeedback feedback = { .kind = kind, .heard_us = sim_now_us(sim) };

	TEXT_COPY(feedback.address_hash, hash);
	SIM_SAY(sim, mail_feedback, &feedback, .shop = shop, .key = hash);
}

/* Two carts of the plan get one checkout: they are one. */
static void tie(struct sim *sim, const char *shop, const char *cart, const char *checkout)
{
	CartChanged changed = { .has_ids = true,
		.platform = PLATFORM_SHOPIFY,
		.platform_topic = "checkouts/update",
		.changed_us = sim_now_us(sim) - US_PER_S,
		.heard_us = sim_now_us(sim) };

	TEXT_COPY(changed.ids.cart_token, cart);
	TEXT_COPY(changed.ids.checkout_token, checkout);
	SIM_SAY(sim, cart_changed, &changed, .shop = shop, .key = cart);
}

static void override_some(struct sim *sim)
{
	char cart[16];

	for (int i = 0; i < 12; i++) {
		snprintf(cart, sizeof(cart), "c%d", i);
		override(sim, i % 2 ? "north" : "south", cart);
	}
}

static void tie_some(struct sim *sim)
{
	char cart[16], checkout[16];

	for (int i = 20; i < 28; i++) {
		snprintf(cart, sizeof(cart), "c%d", i);
		snprintf(checkout, sizeof(checkout), "one-%d", i / 2);
		tie(sim, "south", cart, checkout);
		tie(sim, "north", cart, checkout);
	}
}

static void bounce_some(struct sim *sim)
{
	char hash[16];

	for (int i = 30; i < 40; i++) {
		snprintf(hash, sizeof(hash), "h%d", i);
		bounce(sim, i % 2 ? "north" : "south", hash,
			i % 3 ? FEEDBACK_BOUNCE_PERMANENT : FEEDBACK_BOUNCE_TRANSIENT);
	}
}

static void edit_rules(struct sim *sim)
{
	say_rules(sim, "south", 2,
		"Small carts (under €60): remind after 3 hours, then after 30. Medium carts: 90 minutes, then 12 "
		"hours. Big carts (over €150): 2 hours, then 20. Quiet hours: 20:00 to 9:00. At most one mail per "
		"shopper every 36 hours.");
}

/* In this order; what does something acts, what has a shop sets its mode, what has a name goes, and comes back the second time. */
static const struct happening {
	int hour;
	void (*act)(struct sim *sim);
	const char *shop;
	ShopMode mode;
	uint64_t version;
	const char *goes[SENDERS];
} happenings[] = {
	{ .hour = 20, .act = override_some },
	{ .hour = 26, .act = edit_rules },
	{ .hour = 30, .goes = { "timer" } },
	{ .hour = 33, .goes = { "timer" } },
	{ .hour = 36, .shop = "north", .mode = MODE_PAUSED, .version = 2 },
	{ .hour = 40, .shop = "north", .mode = MODE_LIVE, .version = 3 },
	{ .hour = 41, .goes = { "sender-1", "sender-2" } },
	{ .hour = 43, .goes = { "sender-1", "sender-2" } },
	{ .hour = 45, .shop = "south", .mode = MODE_MAIL_ME, .version = 2 },
	{ .hour = 48, .shop = "south", .mode = MODE_OBSERVE, .version = 3 },
	{ .hour = 52, .shop = "south", .mode = MODE_LIVE, .version = 4 },
	{ .hour = 53, .goes = { "intake" } },
	{ .hour = 55, .goes = { "intake" } },
	{ .hour = 56, .goes = { "waiter" } },
	{ .hour = 58, .goes = { "waiter" } },
	{ .hour = 59, .act = tie_some },
	{ .hour = 60, .act = bounce_some },
};
enum { HAPPENINGS = sizeof(happenings) / sizeof(happenings[0]) };

static void happen(struct sim *sim, const struct happening *happening)
{
	if (happening->act)
		happening->act(sim);
	if (happening->shop)
		set_mode(sim, happening->shop, happening->mode, happening->version);
	for (int i = 0; i < SENDERS && happening->goes[i]; i++) {
		if (sim_runtime(sim, happening->goes[i]))
			sim_kill(sim, happening->goes[i]);
		else
			sim_restart(sim, happening->goes[i]);
	}
}

/* ---- the week ---- */

static void start(struct lived *lived)
{
	static struct sender senders[SENDERS];

	for (int i = 0; i < SENDERS; i++)
		sender_set_up(&senders[i],
			&(struct sender_setup){ .public_url = "https://mail.example",
				.link_key = bytes_of("0123456789abcdef0123456789abcdef") });
	lived->sim = sim_new(services, WEEK_START_US - US_PER_HOUR, 3);
	mailbox = mailbox_new();
	for (int i = 0; i < SENDERS; i++)
		postmen[i] = postman_new(sim_clock(lived->sim), mailbox, FOUL);
	sim_start(lived->sim, "intake", &intake, NULL);
	sim_start(lived->sim, "timer", &timer, NULL);
	sim_start(lived->sim, "waiter", &waiter, NULL);
	sim_start(lived->sim, "unsub", &unsub, NULL);
	sim_start_in(lived->sim, "sender-1", sender_in(&senders[0]), postman_drivers(postmen[0]));
	sim_start_in(lived->sim, "sender-2", sender_in(&senders[1]), postman_drivers(postmen[1]));
	plan_open_shops(lived->sim);
}

static void pass(struct lived *lived, int *happened, int64_t until_us)
{
	while (*happened < HAPPENINGS && WEEK_START_US + happenings[*happened].hour * US_PER_HOUR < until_us) {
		int64_t at_us = WEEK_START_US + happenings[*happened].hour * US_PER_HOUR;

		if (at_us > sim_now_us(lived->sim))
			sim_run_until(lived->sim, at_us);
		happen(lived->sim, &happenings[(*happened)++]);
	}
	if (until_us > sim_now_us(lived->sim))
		sim_run_until(lived->sim, until_us);
}

struct lived *lived_new(void)
{
	struct lived *lived = memory_new(sizeof(*lived));
	int happened = 0;

	lived->plan = plan_new(LIVED_CARTS, 7);
	start(lived);
	for (size_t i = 0; i < lived->plan->event_count; i++) {
		pass(lived, &happened, lived->plan->events[i].at_us);
		plan_play(lived->sim, lived->plan, &lived->plan->events[i]);
	}
	pass(lived, &happened, WEEK_START_US + WEEK_US);
	assert_int_equal(happened, HAPPENINGS);
	return lived;
}

void lived_free(struct lived *lived)
{
	sim_free(lived->sim);
	for (int i = 0; i < SENDERS; i++)
		postman_free(postmen[i]);
	mailbox_free(mailbox);
	plan_free(lived->plan);
	free(lived);
}
