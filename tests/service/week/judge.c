/*
 * judge.c: reads the log as an outsider would, with none of the services' own code
 */
#include "judge.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>

struct seen_cart {
	enum ended ended[3];
	char message_id[3][200];
	CartStatus status;
	ClosedReason reason;
	uint64_t state_version;
	int64_t abandoned_us;
	bool stopped;          /* by an order that names it, or by the owner */
	uint32_t forbidden[3]; /* the attempt that was claimed although a stop was there before it */
};

struct seen_shopper {
	bool opted_out;
	int64_t bought_us; /* by this address */
};

struct judged {
	const struct plan *plan;
	struct seen_cart *carts;
	struct map *by_token; /* shop/token -> struct seen_cart */
	struct map *shoppers; /* shop/hash -> struct seen_shopper */
	size_t claims, after_stops, dead;
};

static void *at(const struct map *map, const char *shop, const char *key)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/%s", shop, key);
	return map_get(map, bytes_of(name));
}

static bool read_as(struct bytes payload, const pb_msgdesc_t *fields, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	return pb_decode(&stream, fields, ret);
}

static void see_state(struct judged *judged, const struct message_meta *said, struct bytes payload)
{
	static CartState state;
	struct seen_cart *cart = at(judged->by_token, said->shop, said->key);

	if (!cart || !read_as(payload, &CartState_msg, &state) || state.state_version < cart->state_version)
		return;
	cart->state_version = state.state_version;
	cart->status = state.status;
	cart->reason = state.closed_reason;
	cart->abandoned_us = state.abandoned_us;
}

static void see_order(struct judged *judged, const struct message_meta *said, struct bytes payload)
{
	CartCheckout order;
	struct seen_cart *cart;
	struct seen_shopper *shopper;

	if (!read_as(payload, &CartCheckout_msg, &order))
		return;
	cart = at(judged->by_token, said->shop, order.ids.order_id + 2); /* "o-c17" buys c17, however it names it */
	if (cart && !*order.ids.email_hash)
		cart->stopped = true;
	shopper = at(judged->shoppers, said->shop, order.ids.email_hash);
	if (shopper && order.bought_us > shopper->bought_us)
		shopper->bought_us = order.bought_us;
}

static void see_optout(struct judged *judged, const struct message_meta *said)
{
	struct seen_shopper *shopper = at(judged->shoppers, said->shop, said->key);

	if (shopper)
		shopper->opted_out = true;
}

static void see_action(struct judged *judged, const struct message_meta *said)
{
	struct seen_cart *cart = at(judged->by_token, said->shop, said->key);

	if (cart)
		cart->stopped = true;
}

static void see_claim(struct judged *judged, const struct message_meta *said, struct bytes payload)
{
	SendClaim claim;
	struct seen_cart *cart;
	const struct seen_shopper *shopper;

	if (!read_as(payload, &SendClaim_msg, &claim) || claim.step < 1 || claim.step > 2)
		return;
	judged->claims++;
	cart = at(judged->by_token, said->shop, claim.cart_id);
	shopper = at(judged->shoppers, said->shop, claim.address_hash);
	if (!cart || !shopper)
		return;
	if (cart->stopped || shopper->opted_out || shopper->bought_us >= cart->abandoned_us)
		cart->forbidden[claim.step] = claim.attempt;
}

static void see_outcome(struct judged *judged, const struct message_meta *said, struct bytes payload, enum ended ended)
{
	ReminderOutcome outcome;
	struct seen_cart *cart;

	if (!read_as(payload, &ReminderOutcome_msg, &outcome) || outcome.step < 1 || outcome.step > 2)
		return;
	cart = at(judged->by_token, said->shop, outcome.cart_id);
	if (!cart)
		return;
	if (ended != ENDED_NOT && ended != ENDED_SKIPPED && outcome.attempt &&
		outcome.attempt == cart->forbidden[outcome.step])
		judged->after_stops++; /* the last byte went all the same */
	if (*outcome.message_id)
		TEXT_COPY(cart->message_id[outcome.step], outcome.message_id);
	if (ended != ENDED_NOT && cart->ended[outcome.step] != ENDED_SENT)
		cart->ended[outcome.step] = ended;
}

static void see(const struct message_meta *said, struct bytes payload, void *context)
{
	static const struct {
		const char *topic;
		enum ended ended;
	} outcomes[] = { { "reminder.sent", ENDED_SENT }, { "reminder.released", ENDED_NOT },
		{ "reminder.refused", ENDED_REFUSED }, { "reminder.ambiguous", ENDED_AMBIGUOUS },
		{ "reminder.skipped", ENDED_SKIPPED } };
	struct judged *judged = context;

	if (strcmp(said->topic, "cart.state") == 0)
		see_state(judged, said, payload);
	else if (strcmp(said->topic, "cart.checkout") == 0)
		see_order(judged, said, payload);
	else if (strcmp(said->topic, "optout.request") == 0)
		see_optout(judged, said);
	else if (strcmp(said->topic, "admin.action") == 0)
		see_action(judged, said);
	else if (strcmp(said->topic, "send.claim") == 0)
		see_claim(judged, said, payload);
	else if (strcmp(said->topic, "dead.letter") == 0)
		judged->dead++;
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
		if (strcmp(said->topic, outcomes[i].topic) == 0)
			see_outcome(judged, said, payload, outcomes[i].ended);
	}
}

struct judged *judge_read(struct sim *sim, const struct plan *plan)
{
	struct judged *judged = memory_new(sizeof(*judged));

	judged->plan = plan;
	judged->carts = memory_new((size_t)plan->cart_count * sizeof(*judged->carts));
	judged->by_token = map_new();
	judged->shoppers = map_new();
	for (int i = 0; i < plan->cart_count; i++) {
		char name[128];

		snprintf(name, sizeof(name), "%s/%s", plan->carts[i].shop, plan->carts[i].token);
		map_put(judged->by_token, bytes_of(name), &judged->carts[i]);
		snprintf(name, sizeof(name), "%s/%s", plan->carts[i].shop, plan->carts[i].hash);
		if (!map_get(judged->shoppers, bytes_of(name)))
			map_put(judged->shoppers, bytes_of(name), memory_new(sizeof(struct seen_shopper)));
	}
	sim_log(sim, see, judged);
	return judged;
}

static void free_shopper(struct bytes key, void *value, void *context)
{
	(void)key, (void)context;
	free(value);
}

void judged_free(struct judged *judged)
{
	map_each(judged->shoppers, free_shopper, NULL);
	map_free(judged->shoppers);
	map_free(judged->by_token);
	free(judged->carts);
	free(judged);
}

enum ended judged_step(const struct judged *judged, int cart, int step)
{
	return judged->carts[cart].ended[step];
}

CartStatus judged_status(const struct judged *judged, int cart)
{
	return judged->carts[cart].status;
}

ClosedReason judged_reason(const struct judged *judged, int cart)
{
	return judged->carts[cart].reason;
}

const char *judged_message_id(const struct judged *judged, int cart, int step)
{
	return judged->carts[cart].message_id[step];
}

size_t judged_sends_after_stops(const struct judged *judged)
{
	return judged->after_stops;
}

size_t judged_claims(const struct judged *judged)
{
	return judged->claims;
}

size_t judged_dead(const struct judged *judged)
{
	return judged->dead;
}
