/* given.c: see given.h */
#include "tests/service/sender/given.h"
#include "tests/unit/document.h"
#include <stdio.h>

static const char SHOP[] = DEMO_SHOP "owner = owner@demo.example\nbounce = bounce@demo.example\n"
				     "reply-to = Demo <shop@demo.example>\npostal-address = 1 Main Street\n"
				     "never = @rival.example\nnever = bob@buyer.example\n";

static const char RULES[] = "Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then "
			    "22. Big carts (over $150): 1 hour, then 20.\n";

void given_document(struct harness *h, const char *shop, const char *kind, const char *text)
{
	given_text(h, shop, kind, text, "");
}

void given_rules(struct harness *h, const char *more)
{
	char text[1000];
	snprintf(text, sizeof(text), "%s%s", RULES, more);
	given_document(h, "demo", "rules", text);
}

void given_policy(struct harness *h, const char *more)
{
	char text[2000];
	snprintf(text, sizeof(text), "%s%s", SHOP, more);
	given_document(h, "demo", "shop", text);
}

void given_mode(struct harness *h, ShopMode mode)
{
	static uint64_t version;
	ShopStatus status = { .mode = mode, .version = ++version };
	GIVEN(h, shop_status, &status, .shop = "demo", .key = "demo", .version = status.version);
}

struct sender sender_here;

void given_live_shop(struct harness *h)
{
	given_document(h, "demo", "shop", SHOP);
	given_rules(h, "");
	given_mode(h, MODE_LIVE);
}

struct harness *given_shop(void)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct harness *h = harness_new_in(sender_in(&sender_here), NOON_US);
	sender_set_up(&sender_here,
		&(struct sender_setup){
			.public_url = "https://bus.example/", .link_key = bytes_of(key), .clock_rate = 1 });
	given_live_shop(h);
	return h;
}

void given_outcome(struct harness *h, const struct topic *topic, const char *cart_id, uint32_t step, int64_t at_us)
{
	char key[100];
	ReminderOutcome outcome = { .step = step, .attempt = 1, .address_hash = "hash-of-ann", .at_us = at_us };
	TEXT_COPY(outcome.cart_id, cart_id);
	snprintf(key, sizeof(key), "%s/%u", cart_id, (unsigned)step);
	harness_given(h, topic, &(struct publish_options){ .shop = "demo", .key = key, .version = 1 }, &outcome);
}

void given_claim(struct harness *h, uint64_t due_seq, const char *cart_id, uint32_t step, const char *owner)
{
	char key[100];
	SendClaim claim = {
		.step = step, .attempt = 1, .address_hash = "hash-of-ann", .due_seq = due_seq, .claimed_us = NOON_US
	};
	TEXT_COPY(claim.cart_id, cart_id);
	TEXT_COPY(claim.owner, owner);
	snprintf(key, sizeof(key), "%s/%u", cart_id, (unsigned)step);
	GIVEN(h, send_claim, &claim, .shop = "demo", .key = key, .version = 1);
}

static void given_cart(struct harness *h, CartState *cart)
{
	static uint64_t version;
	cart->has_ids = true;
	cart->state_version = ++version;
	GIVEN(h, cart_state, cart, .shop = "demo", .key = cart->ids.cart_id, .version = version);
}

void given_merge(struct harness *h, const char *loser, const char *winner)
{
	CartState lost = { .status = CART_CLOSED, .closed_reason = CLOSED_MERGED }, won = { .merged_from_count = 1 };
	TEXT_COPY(lost.ids.cart_id, loser);
	TEXT_COPY(lost.merged_into, winner);
	TEXT_COPY(won.ids.cart_id, winner);
	TEXT_COPY(won.merged_from[0], loser);
	given_cart(h, &lost);
	given_cart(h, &won);
}

void given_downtime(struct harness *h, const char *gateway, int64_t back_us, int64_t hold_until_us)
{
	GatewayAway away = { .back_us = back_us, .hold_until_us = hold_until_us };
	TEXT_COPY(away.gateway, gateway);
	GIVEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = gateway, .version = (uint64_t)back_us);
}

void given_checkout(struct harness *h)
{
	CartCheckout checkout = { .has_ids = true,
		.ids = { .cart_token = "c1", .order_id = "o1" },
		.bought_us = NOON_US,
		.heard_us = NOON_US };
	GIVEN(h, cart_checkout, &checkout, .shop = "demo", .key = "c1");
}

ReminderDue due_reminder(uint32_t step)
{
	return (ReminderDue){ .has_cart = true,
		.cart = { .has_ids = true,
			.ids = { .cart_id = "c1",
				.cart_token = "c1",
				.email = "ann@buyer.example",
				.email_hash = "hash-of-ann" },
			.revision = 3,
			.abandoned_us = NOON_US - 4 * US_PER_HOUR,
			.changed_us = NOON_US - 4 * US_PER_HOUR,
			.items_count = 1,
			.items = { { .title = "Mug", .quantity = 1, .price_minor = 3599 } },
			.total_minor = 3599,
			.currency = "EUR",
			.recovery_url = "https://demo.example/r/1" },
		.step = step,
		.decided_us = NOON_US,
		.due_us = NOON_US,
		.rules_version = 7 };
}

enum verdict when_due(struct harness *h, const ReminderDue *due)
{
	return WHEN(h, reminder_due, due, .shop = "demo", .key = due->cart.ids.email_hash);
}

enum verdict when_sent(struct harness *h, enum mail_end end, const char *words)
{
	struct mail_result result = { .end = end, .transport = "smtp" };
	TEXT_COPY(result.words, words);
	return harness_result(h, &result, CLAIM_FRESH);
}

ReminderOutcome said_outcome(struct harness *h, const struct topic *topic)
{
	ReminderOutcome outcome;
	struct message_meta how;
	if (harness_count(h, topic) != 1)
		fail_msg("%s was said %zu times", topic->name, harness_count(h, topic));
	assert_true(harness_said(h, topic, 0, &outcome, &how));
	assert_string_equal(how.shop, "demo");
	assert_true(strncmp(how.key, outcome.cart_id, strlen(outcome.cart_id)) == 0);
	assert_int_equal(how.version, outcome.attempt);
	return outcome;
}

void said_audit(struct harness *h, const char *action)
{
	static Audit audit;
	for (size_t i = 0; harness_said(h, &topic_audit, i, &audit, NULL); i++)
		if (strcmp(audit.action, action) == 0)
			return;
	fail_msg("nothing was recorded as %s", action);
}
