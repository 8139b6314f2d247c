/*
 * describe.c: a message in one line of words
 *
 * Owns:     one small function per kind of message. Kinds that need no words of their own are shown as JSON.
 * Promises: one line, without control characters.
 */
#include "services/carts/words/describe.h"

#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/documents/docs.h"
#include "services/kit/money/money.h"
#include "services/kit/shop/mode.h"
#include "services/kit/time/timestamp.h"
#include "services/kit/time/zone.h"
#include "services/kit/words/message_json.h"
#include "services/kit/words/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct description {
	const char *zone;
	struct buffer *line;
};

void describe_time(const char *zone, int64_t us, char ret[40])
{
	struct local_time at;

	if (us == 0)
		snprintf(ret, 40, "never");
	else if (zone_local(zone, us, &at))
		snprintf(ret, 40, "%lld us", (long long)us);
	else
		snprintf(ret, 40, "%04d-%02d-%02d %02d:%02d:%02d", at.year, at.month, at.day, at.hour, at.minute,
			at.second);
}

static void add_time(const struct description *to, const char *before, int64_t us)
{
	char at[40];

	if (us == 0)
		return;
	describe_time(to->zone, us, at);
	buffer_printf(to->line, "%s%s", before, at);
}

static void add_money(const struct description *to, int64_t minor, const char *currency)
{
	char amount[48];

	if (!*currency)
		return;
	money_plain(minor, currency, amount, sizeof(amount));
	buffer_printf(to->line, ", %s %s", amount, currency);
}

static void add_address(const struct description *to, const char *email)
{
	char masked[300];

	if (!*email)
		return;
	mask_address(email, masked);
	buffer_printf(to->line, ", %s", masked);
}

static void add_text(const struct description *to, const char *before, const char *text)
{
	if (*text)
		buffer_printf(to->line, "%s%s", before, text);
}

/* Reads a moment as facts write it, "2026-11-20 14:05 UTC". Returns its length; 0: there is none. */
static int read_moment(const char *text, int64_t *ret_us)
{
	struct local_time at = { 0 };
	int len = 0;

	if (sscanf(text, "%4d-%2d-%2d %2d:%2d UTC%n", &at.year, &at.month, &at.day, &at.hour, &at.minute, &len) != 5)
		return 0;
	return zone_moment("Etc/UTC", &at, ret_us) < 0 ? 0 : len;
}

/* What a service said in words: facts are the same for everybody and tell moments in UTC, people read them in the shop's time. */
static void add_words(const struct description *to, const char *before, const char *text)
{
	int64_t us;

	if (!*text)
		return;
	buffer_add_text(to->line, before);
	while (*text) {
		int len = *text == '2' ? read_moment(text, &us) : 0;

		if (len > 0)
			add_time(to, "", us);
		else
			buffer_add(to->line, text, 1);
		text += len > 0 ? len : 1;
	}
}

static const char *word(const pb_msgdesc_t *message, uint32_t tag, int value)
{
	const char *name = enum_word(message, tag, value);

	return name ? name : "?";
}

static void describe_changed(const struct description *to, const CartChanged *changed)
{
	buffer_add_text(to->line, changed->platform_topic);
	if (changed->has_items && changed->items_count == 0)
		buffer_add_text(to->line, ": emptied");
	else if (changed->has_items)
		buffer_printf(to->line, ": %u item%s", changed->items_count, changed->items_count == 1 ? "" : "s");
	if (changed->has_total)
		add_money(to, changed->total_minor, changed->currency);
	add_address(to, changed->ids.email);
	if (changed->consent_unreadable)
		buffer_add_text(to->line, ", with a consent that cannot be read");
	if (changed->saved_link)
		buffer_add_text(to->line, ", saved its link");
	if (changed->has_wait_override)
		buffer_add_text(to->line, ", with waits of its own");
	add_time(to, ", changed at ", changed->changed_us);
}

static void describe_checkout(const struct description *to, const CartCheckout *checkout)
{
	buffer_printf(to->line, "%s: %s", checkout->platform_topic,
		word(&CartCheckout_msg, CartCheckout_kind_tag, (int)checkout->kind));
	add_text(to, ", order ", checkout->ids.order_id);
	add_money(to, checkout->total_minor, checkout->currency);
	add_address(to, checkout->ids.email);
	add_time(to, ", at ", checkout->bought_us);
}

static void describe_state(const struct description *to, const CartState *cart)
{
	buffer_add_text(to->line, word(&CartState_msg, CartState_status_tag, (int)cart->status));
	if (cart->closed_reason)
		buffer_printf(
			to->line, " (%s)", word(&CartState_msg, CartState_closed_reason_tag, (int)cart->closed_reason));
	buffer_printf(to->line, ", revision %llu, %u item%s", (unsigned long long)cart->revision, cart->items_count,
		cart->items_count == 1 ? "" : "s");
	if (cart->total_minor)
		add_money(to, cart->total_minor, cart->currency);
	add_address(to, cart->ids.email);
	add_text(to, ", ", cart->ids.email_unusable ? "its address is no mail address" : "");
	add_time(to, ", left at ", cart->abandoned_us);
	add_text(to, ", merged into ", cart->merged_into);
}

static void describe_timer_set(const struct description *to, const TimerSet *timer)
{
	buffer_printf(to->line, "%s will say %s", timer->name, timer->topic);
	if (*timer->cron)
		buffer_printf(to->line, " by \"%s\" in %s", timer->cron, timer->zone);
	else
		add_time(to, " at ", timer->due_us);
}

static void describe_due(const struct description *to, const ReminderDue *due)
{
	buffer_printf(to->line, "reminder %u is due", due->step);
	if (due->cart.total_minor)
		add_money(to, due->cart.total_minor, due->cart.currency);
	add_address(to, due->cart.ids.email);
}

static void describe_outcome(const struct description *to, const ReminderOutcome *outcome)
{
	buffer_printf(to->line, "reminder %u, attempt %u", outcome->step, outcome->attempt);
	if (outcome->to_owner)
		buffer_add_text(to->line, ", to the owner");
	add_text(to, ", by ", outcome->transport);
	add_text(to, ": ", outcome->reason);
	add_text(to, ", ", outcome->message_id);
}

static void describe_audit(const struct description *to, const Audit *audit)
{
	buffer_add_text(to->line, audit->action);
	add_words(to, ": ", audit->grounds);
	add_words(to, ", before ", audit->before);
	add_words(to, ", after ", audit->after);
	if (audit->rules_version)
		buffer_printf(to->line, " (rules version %u)", audit->rules_version);
	if (strcmp(audit->who, "system") != 0)
		add_text(to, ", by ", audit->who);
	add_time(to, "; looked at next at ", audit->next_us);
}

static void describe_status(const struct description *to, const ShopStatus *status)
{
	buffer_printf(to->line, "the shop is now in %s", mode_name(status->mode));
	add_text(to, ": ", status->reason);
	add_text(to, ", by ", status->who);
}

static void describe_suppression(const struct description *to, const Suppression *fact)
{
	buffer_printf(to->line, "%s %s (%s)", fact->address_hash,
		fact->lifted ? "may be mailed again" : "is never mailed",
		word(&Suppression_msg, Suppression_source_tag, (int)fact->source));
	add_text(to, ": ", fact->reason);
}

static void describe_document(const struct description *to, const Document *document)
{
	buffer_printf(to->line, "%s, version %u, from %s, %zu bytes", document->kind, document->version,
		document->source, document_text(document).len);
}

static void add_span(const struct description *to, const char *before, int64_t us)
{
	char span[DURATION_WORDS_MAX];

	buffer_printf(to->line, "%s%s", before, duration_words(us, span));
}

static void describe_action(const struct description *to, const AdminAction *action)
{
	buffer_printf(to->line, "%s asks for %s", action->who,
		word(&AdminAction_msg, AdminAction_verb_tag, (int)action->verb));
	if (action->has_wait_override) {
		add_span(to, ": ", action->wait_override.first_us);
		add_span(to, ", then ", action->wait_override.second_us);
	}
	add_text(to, ": ", action->reason);
}

static void describe_optout(const struct description *to, const OptoutRequest *asked)
{
	buffer_printf(to->line, "%s wants no more mail (%s)", asked->address_hash,
		word(&OptoutRequest_msg, OptoutRequest_source_tag, (int)asked->source));
}

static void describe_feedback(const struct description *to, const MailFeedback *feedback)
{
	static const char *const words[] = { [FEEDBACK_COMPLAINT] = "was reported as spam",
		[FEEDBACK_BOUNCE_PERMANENT] = "came back for good",
		[FEEDBACK_BOUNCE_TRANSIENT] = "came back for now" };
	bool known = (size_t)feedback->kind < sizeof(words) / sizeof(*words);

	if (feedback->step)
		buffer_printf(to->line, "reminder %u ", feedback->step);
	else
		buffer_add_text(to->line, "a mail ");
	buffer_add_text(to->line, known ? words[feedback->kind] : "was answered");
	add_text(to, ": ", feedback->detail);
}

static void describe_closed(const struct description *to, const CartClosed *closed)
{
	buffer_printf(
		to->line, "the chase is over: %s", word(&CartClosed_msg, CartClosed_reason_tag, (int)closed->reason));
}

static void describe_claim(const struct description *to, const SendClaim *claim)
{
	buffer_printf(
		to->line, "reminder %u, attempt %u: about to hand over the last byte", claim->step, claim->attempt);
}

static void describe_clicked(const struct description *to, const LinkClicked *clicked)
{
	buffer_printf(to->line, "the link back to the basket was followed, in reminder %u", clicked->step);
	add_time(to, ", at ", clicked->at_us);
}

static void describe_model(const struct description *to, const ModelUsed *used)
{
	buffer_printf(
		to->line, "the model%s%s was asked for the %s", used->model[0] ? " " : "", used->model, used->purpose);
	if (used->step)
		buffer_printf(to->line, " of reminder %u", used->step);
	buffer_printf(to->line, ": %s, %u tokens in, %u out", used->outcome, used->tokens_in, used->tokens_out);
}

static void describe_fired(const struct description *to, const TimerFired *fired)
{
	buffer_printf(to->line, "%s said %s", fired->name, fired->topic);
	add_time(to, ", due at ", fired->due_us);
}

static void describe_wake(const struct description *to, const CartWake *wake)
{
	buffer_printf(to->line, "revision %llu is looked at", (unsigned long long)wake->revision);
}

static void describe_other(const struct description *to, const struct topic *topic, const void *message)
{
	json_t *json = message_to_json(topic, message);
	char *text = json_dumps(json, JSON_COMPACT | JSON_PRESERVE_ORDER);

	buffer_add_text(to->line, text ? text : "");
	free(text);
	json_decref(json);
}

#define ONE(name, function)                                                                                            \
	{                                                                                                              \
		&topic_##name,                                                                                         \
			(void (*)(const struct description *, const void *))(1                                         \
					? (function)                                                                   \
					: (void (*)(const struct description *, const topic_message_##name *))0)       \
	}

static void describe_away(const struct description *to, const GatewayAway *away)
{
	add_text(to, "nobody could reach gateway ", away->gateway);
	add_time(to, ", from ", away->from_us);
	add_time(to, " to ", away->back_us);
	add_time(to, "; mails wait until ", away->hold_until_us);
}

static const struct {
	const struct topic *topic;
	void (*describe)(const struct description *to, const void *message);
} kinds[] = { ONE(cart_changed, describe_changed), ONE(cart_checkout, describe_checkout),
	ONE(cart_state, describe_state), ONE(timer_set, describe_timer_set), ONE(reminder_due, describe_due),
	ONE(reminder_sent, describe_outcome), ONE(reminder_released, describe_outcome),
	ONE(reminder_refused, describe_outcome), ONE(reminder_ambiguous, describe_outcome),
	ONE(reminder_skipped, describe_outcome), ONE(audit, describe_audit), ONE(shop_status, describe_status),
	ONE(suppression, describe_suppression), ONE(document, describe_document), ONE(admin_action, describe_action),
	ONE(optout_request, describe_optout), ONE(mail_feedback, describe_feedback), ONE(cart_closed, describe_closed),
	ONE(send_claim, describe_claim), ONE(timer_fired, describe_fired), ONE(gateway_away, describe_away),
	ONE(cart_wake, describe_wake), ONE(link_clicked, describe_clicked), ONE(model_used, describe_model) };

static void describe_any(const struct description *to, const struct topic *topic, const void *message)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (kinds[i].topic == topic) {
			kinds[i].describe(to, message);
			return;
		}
	}
	describe_other(to, topic, message);
}

void describe(const struct topic *topic, const void *message, const char *zone, struct buffer *ret)
{
	size_t start = ret->len;

	describe_any(&(struct description){ .zone = zone, .line = ret }, topic, message);
	buffer_text(ret);     /* ends it */
	if (ret->len > start) /* a storefront's text must not move an admin's cursor */
		text_make_plain((char *)ret->data + start);
}
