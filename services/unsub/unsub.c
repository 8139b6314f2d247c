/*
 * unsub.c: the one list of people who must not be mailed
 *
 * Hears:     optout.request, mail.feedback, admin.action
 * Remembers: suppression, reminder.sent, mail.feedback, shop.status, alarm
 * Says:      suppression, audit, shop.status, alarm
 * Owns:      suppression: one row per (shop, address hash), kept for ever.
 * Promises:  an address enters the list once and keeps its first reason; only a person takes it off, and says why; a row that was
 *            lifted stays as history, and an opt-out after that counts again.
 * Fails by:  dead-lettering what names no address: nothing to put on a list.
 * Read next: rate.c (when complaints pause a shop), kit/stops.h (why a mail is stopped even while this process is down)
 */
#include "services/unsub/unsub.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/unsub/rate.h"
#include <stdio.h>

static bool is_listed(const struct state *state, const char *shop, const char *address_hash, Suppression *ret_row)
{
	return state_get(state, "suppressed", shop, address_hash, &Suppression_msg, ret_row) && !ret_row->lifted;
}

static void say_row(const struct state *state, struct turn *turn, const Suppression *row)
{
	const char *shop = turn_message(turn)->shop;
	uint64_t version = state_number(state, "version", shop, row->address_hash) + 1;

	SAY(turn, suppression, row, .shop = shop, .key = row->address_hash, .version = version);
}

struct note {
	const char *action, *who, *grounds, *cart_id;
};

static void say_audit(struct turn *turn, const char *address_hash, const struct note *note)
{
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };

	TEXT_COPY(audit.action, note->action);
	TEXT_COPY(audit.who, note->who && *note->who ? note->who : "system");
	TEXT_COPY(audit.address_hash, address_hash);
	TEXT_COPY(audit.grounds, note->grounds);
	if (note->cart_id)
		TEXT_COPY(audit.cart_id, note->cart_id);
	SAY(turn, audit, &audit, .shop = turn_message(turn)->shop, .key = address_hash);
}

static const char *source_words(OptoutSource source)
{
	switch (source) {
	case OPTOUT_PAGE:
		return "the shopper unsubscribed on the page";
	case OPTOUT_ONE_CLICK:
		return "the shopper unsubscribed with one click in the mail program";
	case OPTOUT_OWNER:
		return "the owner unsubscribed the shopper";
	case OPTOUT_COMPLAINT:
		return "the shopper reported a mail as spam";
	case OPTOUT_BOUNCE:
		return "the address does not exist";
	case OPTOUT_PRIVACY:
		return "the shopper asked for erasure";
	case OPTOUT_IMPORT:
		return "imported from a list of people who unsubscribed elsewhere";
	}
	return "unsubscribed";
}

struct listing {
	const char *address_hash;
	OptoutSource source;
	int64_t since_us;
	const char *reason, *who, *cart_id; /* each may be NULL */
};

static enum verdict list(const struct state *state, struct turn *turn, const struct listing *listing)
{
	const char *reason = listing->reason && *listing->reason ? listing->reason : source_words(listing->source);
	Suppression row;

	if (!*listing->address_hash)
		return turn_never(turn, "this opt-out names no address");
	if (is_listed(state, turn_message(turn)->shop, listing->address_hash, &row))
		return DONE; /* a mailbox may post twice, and a shopper may click after it did */
	row = (Suppression){ .source = listing->source, .since_us = listing->since_us };
	TEXT_COPY(row.address_hash, listing->address_hash);
	TEXT_COPY(row.reason, reason);
	say_row(state, turn, &row);
	say_audit(turn, row.address_hash,
		&(struct note){ .action = "unsubscribed",
			.who = listing->who,
			.grounds = reason,
			.cart_id = listing->cart_id });
	return DONE;
}

static enum verdict hear_optout(const struct state *state, const OptoutRequest *asked, struct turn *turn)
{
	return list(state, turn,
		&(struct listing){ .address_hash = asked->address_hash,
			.source = asked->source,
			.since_us = asked->heard_us,
			.cart_id = asked->cart_id });
}

static enum verdict note_transient(const struct state *state, const MailFeedback *feedback, struct turn *turn)
{
	char grounds[240];

	if (!*feedback->address_hash)
		return turn_never(turn, "this feedback names no address");
	snprintf(grounds, sizeof(grounds), "%s%s", *feedback->detail ? feedback->detail : "a transient bounce",
		rate_is_ours(state, turn_message(turn)->shop, feedback->address_hash)
			? ""
			: " (of a mail that is not ours)");
	say_audit(turn, feedback->address_hash,
		&(struct note){ .action = "bounced", .grounds = grounds, .cart_id = feedback->cart_id });
	return DONE;
}

static enum verdict hear_feedback(const struct state *state, const MailFeedback *feedback, struct turn *turn)
{
	struct listing listing = { .address_hash = feedback->address_hash,
		.source = OPTOUT_COMPLAINT,
		.since_us = feedback->heard_us,
		.cart_id = feedback->cart_id };
	enum verdict verdict;

	switch (feedback->kind) {
	case FEEDBACK_COMPLAINT:
		break;
	case FEEDBACK_BOUNCE_PERMANENT:
		listing.source = OPTOUT_BOUNCE;
		listing.reason = feedback->detail;
		break;
	case FEEDBACK_BOUNCE_TRANSIENT: /* a full mailbox is not a no: it is counted, by its audits */
		return note_transient(state, feedback, turn);
	default:
		return turn_never(turn, "feedback of an unknown kind");
	}
	verdict = list(state, turn, &listing);
	if (verdict == DONE)
		rate_judge(state, feedback, turn);
	return verdict;
}

static enum verdict lift(const struct state *state, struct turn *turn, const AdminAction *action)
{
	Suppression row;

	if (!*action->address_hash)
		return turn_never(turn, "lifting a suppression needs an address");
	if (!*action->reason)
		return turn_never(turn, "lifting a suppression needs a reason");
	if (!is_listed(state, turn_message(turn)->shop, action->address_hash, &row))
		return DONE;
	row.lifted = true; /* since when and why it was listed stays */
	say_row(state, turn, &row);
	say_audit(turn, row.address_hash,
		&(struct note){ .action = "suppression_lifted", .who = action->who, .grounds = action->reason });
	return DONE;
}

static enum verdict hear_action(const struct state *state, const AdminAction *action, struct turn *turn)
{
	switch (action->verb) {
	case ADMIN_UNSUBSCRIBE:
		return list(state, turn,
			&(struct listing){ .address_hash = action->address_hash,
				.source = OPTOUT_OWNER,
				.since_us = action->at_us,
				.reason = action->reason,
				.who = action->who,
				.cart_id = action->cart_id });
	case ADMIN_LIFT_SUPPRESSION:
		return lift(state, turn, action);
	case ADMIN_SUPPRESS_CART:
	case ADMIN_WRITE_OFF:
	case ADMIN_OVERRIDE_WAIT:
		return DONE; /* about one cart: intake's */
	}
	return turn_never(turn, "an action that unsub does not know");
}

static void remember_suppression(struct state *state, const struct said *said, const Suppression *row)
{
	if (state_number(state, "version", said->shop, row->address_hash) > said->version)
		return;
	state_put_number(state, "version", said->shop, row->address_hash, said->version);
	state_put(state, "suppressed", said->shop, row->address_hash, &Suppression_msg, row);
}

const struct service unsub = {
	.name = "unsub",
	.exclusive = true,
	.hears = {
		HEARS(optout_request, hear_optout),
		HEARS(mail_feedback, hear_feedback),
		HEARS(admin_action, hear_action),
	},
	.remembers = { REMEMBERS(suppression, remember_suppression), REMEMBERS(reminder_sent, rate_remember_sent),
		REMEMBERS(mail_feedback, rate_remember_feedback), REMEMBERS(shop_status, rate_remember_status),
		REMEMBERS(alarm, rate_remember_alarm) },
	.says = { SAYS(suppression), SAYS(audit), SAYS(shop_status), SAYS(alarm) },
	.next_due_us = rate_next_due_us,
	.due = rate_due,
};
