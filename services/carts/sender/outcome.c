/*
 * outcome.c: publishes the facts that end or defer a reminder, and the claims that were not used
 *
 * Promises:  every outcome comes with its audit in the same turn; keys and versions are those by which
 *            carts/policy/sends.h folds.
 * Read next: sender.c
 */
#include "services/carts/sender/outcome.h"
#include "bus/base/text.h"
#include <assert.h>
#include <inttypes.h>
#include <pb_encode.h>
#include <stdio.h>

struct note {
	const char *action, *grounds;
	const char *before, *after; /* each may be NULL */
	int64_t next_us;
};

static void say_audit(struct turn *turn, const ReminderDue *due, const struct note *note)
{
	Audit audit = { .at_us = turn_now_us(turn),
		.decided_on = turn_seen(turn),
		.rules_version = due->rules_version,
		.next_us = note->next_us };
	TEXT_COPY(audit.action, note->action);
	TEXT_COPY(audit.who, "system");
	TEXT_COPY(audit.cart_id, due->cart.ids.cart_id);
	TEXT_COPY(audit.address_hash, due->cart.ids.email_hash);
	TEXT_COPY(audit.grounds, note->grounds);
	TEXT_COPY(audit.before, note->before ? note->before : "");
	TEXT_COPY(audit.after, note->after ? note->after : "");
	SAY(turn, audit, &audit, .shop = turn_message(turn)->shop, .key = due->cart.ids.cart_id);
}

struct ending {
	const struct topic *topic;
	const char *action;
};

static const struct ending *ending_of(enum claim_state end)
{
	static const struct ending endings[] = { [CLAIM_IS_DONE] = { &topic_reminder_sent, "mailed" },
		[CLAIM_IS_RELEASED] = { &topic_reminder_released, "released" },
		[CLAIM_IS_REFUSED] = { &topic_reminder_refused, "refused" },
		[CLAIM_IS_AMBIGUOUS] = { &topic_reminder_ambiguous, "ambiguous" },
		[CLAIM_IS_SKIPPED] = { &topic_reminder_skipped, "skipped" } };

	assert(end <= CLAIM_IS_SKIPPED && endings[end].topic);
	return &endings[end];
}

void say_outcome(struct turn *turn, enum claim_state end, const struct outcome *outcome)
{
	const struct ending *ending = ending_of(end);
	const ReminderDue *due = outcome->due;
	char key[100], grounds[700]; /* more than an audit has room for: TEXT_COPY cuts at a character */
	ReminderOutcome said = { .step = due->step,
		.attempt = outcome->attempt,
		.due_seq = turn_message(turn)->seq,
		.at_us = turn_now_us(turn),
		.total_minor = due->cart.total_minor,
		.to_owner = outcome->to_owner };
	TEXT_COPY(said.cart_id, due->cart.ids.cart_id);
	TEXT_COPY(said.address_hash, due->cart.ids.email_hash);
	TEXT_COPY(said.message_id, outcome->message_id ? outcome->message_id : "");
	TEXT_COPY(said.transport, outcome->transport ? outcome->transport : "");
	TEXT_COPY(said.reason, outcome->reason ? outcome->reason : "");
	TEXT_COPY(said.currency, due->cart.currency);
	snprintf(key, sizeof(key), "%s/%u", said.cart_id, (unsigned)said.step);
	turn_publish(turn, ending->topic,
		&(struct publish_options){ .shop = turn_message(turn)->shop, .key = key, .version = outcome->attempt },
		&said);
	snprintf(grounds, sizeof(grounds), "reminder %u, attempt %u%s%s%s%s", (unsigned)said.step,
		(unsigned)said.attempt, outcome->to_owner ? ", to the owner" : "", said.reason[0] ? ": " : "",
		said.reason, outcome->note ? outcome->note : "");
	say_audit(turn, due,
		&(struct note){ .action = ending->action,
			.grounds = grounds,
			.before = end == CLAIM_IS_SKIPPED ? "due" : "claimed",
			.after = ending->action });
}

void say_deferred(struct turn *turn, const ReminderDue *due, int64_t until_us, const char *reason)
{
	CartWake wake = { .revision = due->cart.revision, .due_us = until_us };
	TimerSet set = { .version = due->cart.revision, .due_us = until_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));
	char grounds[200];
	TEXT_COPY(wake.cart_id, due->cart.ids.cart_id);
	snprintf(set.name, sizeof(set.name), "cart/%s", wake.cart_id);
	TEXT_COPY(set.topic, topic_cart_wake.name);
	TEXT_COPY(set.key, wake.cart_id);
	if (!pb_encode(&stream, &CartWake_msg, &wake))
		assert(!"a wake-up always fits into a timer");
	set.payload.size = (pb_size_t)stream.bytes_written;
	SAY(turn, timer_set, &set, .shop = turn_message(turn)->shop, .key = set.name, .version = set.version);
	snprintf(grounds, sizeof(grounds), "reminder %u: %s", (unsigned)due->step, reason);
	say_audit(turn, due, &(struct note){ .action = "deferred", .grounds = grounds, .next_us = until_us });
}

void say_left(struct turn *turn, const ReminderDue *due, const char *reason)
{
	char grounds[200];
	snprintf(grounds, sizeof(grounds), "reminder %u was not sent: %s; it is decided anew", (unsigned)due->step,
		reason);
	say_audit(turn, due, &(struct note){ .action = "deferred", .grounds = grounds });
}

/*
 * Unused claims: the sender was killed, and the last byte of the mail is known not to have left
 *
 * Owns:      the table unused (run/message/attempt -> when) of the service's state; a row goes when the log
 *            forgets its fact.
 * Promises:  repeating the fact changes nothing; it is about one claim of one run only.
 */

STATE_NUMBERS(unused, "unused");

enum { KEY_MAX = 96 };

static const char *key_of(char ret[KEY_MAX], const char *owner, uint64_t due_seq, uint32_t attempt)
{
	snprintf(ret, KEY_MAX, "%.40s/%" PRIu64 "/%u", owner, due_seq, (unsigned)attempt);
	return ret;
}

void unused_say(struct turn *turn, const struct claim_note *claim)
{
	SendUnused unused = { .due_seq = claim->seq, .attempt = (uint32_t)claim->version, .at_us = turn_now_us(turn) };
	char key[KEY_MAX], idem[KEY_MAX + 16];

	TEXT_COPY(unused.owner, claim->run);
	snprintf(idem, sizeof(idem), "unused/%s", key_of(key, unused.owner, unused.due_seq, unused.attempt));
	SAY(turn, send_unused, &unused, .shop = SHOP_OF_ALL, .key = unused.owner, .idem = idem);
}

void unused_remember(struct state *state, const struct message_meta *said, const SendUnused *unused)
{
	char key[KEY_MAX];

	STATE_PUT_NUMBER(state, unused, said->shop, key_of(key, unused->owner, unused->due_seq, unused->attempt),
		(uint64_t)unused->at_us);
}

bool unused_is(const struct state *state, const struct claim_row *claim)
{
	char key[KEY_MAX];

	return STATE_HAS(state, unused, SHOP_OF_ALL, key_of(key, claim->owner, claim->asked_seq, claim->attempt));
}
