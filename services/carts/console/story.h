/*
 * story.h: what was said about each cart, as `cartbus why` tells it
 *
 * A message is kept once, and a key for each name by which it is about a cart: "id:" a cart's id, another of the names of
 * carts/policy/change.h, "to:" an address hash, "cu:" a customer. Which messages a cart's story has is decided when it is asked for:
 * those under any of the cart's names, so a merge that came later joins both stories. Messages of the storefront about the
 * content of a cart (cart.changed) are not kept: the record of the decisions says what they changed.
 */
#ifndef CARTS_CONSOLE_STORY_H
#define CARTS_CONSOLE_STORY_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

void story_remember_audit(struct state *state, const struct message_meta *said, const Audit *audit);
void story_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome);
void story_remember_click(struct state *state, const struct message_meta *said, const LinkClicked *clicked);
void story_remember_checkout(struct state *state, const struct message_meta *said, const CartCheckout *checkout);
void story_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback);
void story_remember_optout(struct state *state, const struct message_meta *said, const OptoutRequest *asked);
void story_remember_action(struct state *state, const struct message_meta *said, const AdminAction *action);
void story_remember_model(struct state *state, const struct message_meta *said, const ModelUsed *used);

/* One message of a story. Strings are borrowed for the call. */
struct told {
	uint64_t seq;
	int64_t time_us;
	const char *topic, *said_by;
	struct bytes payload;
};
typedef void story_each_fn(const struct told *told, void *context);
/*
 * Calls each() for the messages under the names (each with its NUL), in the order of the log, each message once: the newest `most` of
 * each name. Returns true if there are older ones.
 */
bool story_each(
	const struct state *state, const char *shop, struct bytes names, int most, story_each_fn *each, void *context);

#endif
