/*
 * unsub.c: keeps the one list of people who must not be mailed
 *
 * Hears:     optout.request, mail.feedback, admin.action, privacy.request
 * Remembers: suppression, privacy.state, reminder.sent, mail.feedback, shop.status, alarm
 * Says:      suppression, privacy.state, audit, shop.status, alarm
 * Promises:  an address enters the list once and keeps its first source. Only a person takes it off, with a
 *            reason: a shopper may take back an opt-out that was made on the page, the owner any entry. A row
 *            that was lifted stays as history, and a later opt-out counts again.
 * Fails by:  dead-lettering a message that names no address, because there is nothing to put on the list.
 * Read next: rate.c (when complaints pause a shop), privacy.c, carts/policy/stops.h (why a mail is
 *            stopped even while this process is down)
 */
#include "services/platform/unsub/unsub.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/suppression/suppressions.h"
#include "services/platform/unsub/rate.h"
#include <stdio.h>

/*
 * Adding to the list, and lifting
 *
 * Owns:      suppression: one row per (shop, address hash), kept for ever.
 * Promises:  an address enters once and keeps its first source. Only an opt-out on the page, which may be
 *            taken back there, gives way to any other source. Every change is audited with the row that stood
 *            before.
 */

/* false: the address is not on the list now. */
static bool list_has(const struct state *state, const char *shop, const char *address_hash, Suppression *ret_row)
{
	return suppressions_get(state, shop, address_hash, ret_row) && !ret_row->lifted;
}

static void say_row(const struct state *state, struct turn *turn, const Suppression *row)
{
	const char *shop = turn_message(turn)->shop;
	uint64_t version = suppressions_version_of(state, shop, row->address_hash) + 1;

	SAY(turn, suppression, row, .shop = shop, .key = row->address_hash, .version = version);
}

void list_audit(struct turn *turn, const char *address_hash, const struct note *note)
{
	const char *shop = turn_message(turn)->shop;
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };

	TEXT_COPY(audit.action, note->action);
	TEXT_COPY(audit.who, note->who && *note->who ? note->who : "system");
	TEXT_COPY(audit.address_hash, address_hash);
	TEXT_COPY(audit.grounds, note->grounds);
	if (note->cart_id)
		TEXT_COPY(audit.cart_id, note->cart_id);
	if (note->before)
		TEXT_COPY(audit.before, note->before);
	if (note->after)
		TEXT_COPY(audit.after, note->after);
	SAY(turn, audit, &audit, .shop = shop, .key = *address_hash ? address_hash : shop);
}

static void audit_row(struct turn *turn, const Suppression *before, const Suppression *after, struct note note)
{
	char was[OPTOUT_LINE_MAX], is[OPTOUT_LINE_MAX];

	note.before = optout_line(before, was);
	note.after = optout_line(after, is);
	list_audit(turn, after->address_hash, &note);
}

enum verdict list_person(const struct state *state, struct turn *turn, const struct listing *listing)
{
	const char *reason = listing->reason && *listing->reason ? listing->reason : optout_words(listing->source);
	const char *who = listing->who && *listing->who ? listing->who : optout_who(listing->source);
	const char *shop = turn_message(turn)->shop;
	Suppression row, before;
	bool known;

	if (!*listing->address_hash)
		return turn_dead_letter(turn, "this opt-out names no address");
	known = suppressions_get(state, shop, listing->address_hash, &before);
	if (known && !before.lifted && (before.source != OPTOUT_PAGE || listing->source == OPTOUT_PAGE))
		return TURN_DONE; /* a mailbox may post twice, and a shopper may click after it did */
	row = (Suppression){ .source = listing->source,
		.since_us = known && !before.lifted ? before.since_us : listing->since_us };
	TEXT_COPY(row.address_hash, listing->address_hash);
	TEXT_COPY(row.reason, reason);
	say_row(state, turn, &row);
	audit_row(turn, known ? &before : NULL, &row,
		(struct note){ .action = "unsubscribed", .who = who, .grounds = reason, .cart_id = listing->cart_id });
	return TURN_DONE;
}

/* Takes an address off the list; the row keeps the time and the reason of the listing. */
static void list_lift(struct turn *turn, const struct state *state, const Suppression *row, const AdminAction *action)
{
	Suppression lifted = *row;

	lifted.lifted = true;
	say_row(state, turn, &lifted);
	audit_row(turn, row, &lifted,
		(struct note){ .action = "suppression_lifted",
			.who = action->who,
			.grounds = action->reason,
			.cart_id = action->cart_id });
}

static enum verdict hear_optout(const struct state *state, const OptoutRequest *asked, struct turn *turn)
{
	return list_person(state, turn,
		&(struct listing){ .address_hash = asked->address_hash,
			.source = asked->source,
			.since_us = asked->heard_us,
			.who = asked->who,
			.cart_id = asked->cart_id });
}

static enum verdict note_transient(const struct state *state, const MailFeedback *feedback, struct turn *turn)
{
	char grounds[240];

	if (!*feedback->address_hash)
		return turn_dead_letter(turn, "this feedback names no address");
	snprintf(grounds, sizeof(grounds), "%s%s", *feedback->detail ? feedback->detail : "a transient bounce",
		rate_is_ours(state, turn_message(turn)->shop, feedback->address_hash)
			? ""
			: " (of a mail that is not ours)");
	list_audit(turn, feedback->address_hash,
		&(struct note){ .action = "bounced", .grounds = grounds, .cart_id = feedback->cart_id });
	return TURN_DONE;
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
	case FEEDBACK_BOUNCE_TRANSIENT: /* a full mailbox is no opt-out: only audits count it */
		return note_transient(state, feedback, turn);
	default:
		return turn_dead_letter(turn, "feedback of an unknown kind");
	}
	verdict = list_person(state, turn, &listing);
	if (verdict == TURN_DONE)
		rate_judge(state, feedback, turn);
	return verdict;
}

static enum verdict lift(const struct state *state, struct turn *turn, const AdminAction *action)
{
	Suppression row;

	if (!*action->address_hash)
		return turn_dead_letter(turn, "lifting a suppression needs an address");
	if (!*action->reason)
		return turn_dead_letter(turn, "lifting a suppression needs a reason");
	if (list_has(state, turn_message(turn)->shop, action->address_hash, &row))
		list_lift(turn, state, &row, action);
	return TURN_DONE;
}

/*
 * An entry with any other reason stays: the shopper's word does not outweigh a complaint or the owner's word.
 */
static enum verdict take_back(const struct state *state, struct turn *turn, const AdminAction *action)
{
	Suppression row;

	if (!*action->address_hash)
		return turn_dead_letter(turn, "taking back an opt-out needs an address");
	if (!list_has(state, turn_message(turn)->shop, action->address_hash, &row))
		return TURN_DONE;
	if (row.source == OPTOUT_PAGE && row.since_us <= action->listed_by_us) {
		list_lift(turn, state, &row, action);
		return TURN_DONE;
	}
	list_audit(turn, row.address_hash,
		&(struct note){ .action = "undo_refused",
			.who = action->who,
			.grounds = row.source == OPTOUT_PAGE ? "listed again since" : "listed for another reason",
			.cart_id = action->cart_id });
	return TURN_DONE;
}

static enum verdict hear_action(const struct state *state, const AdminAction *action, struct turn *turn)
{
	switch (action->verb) {
	case ADMIN_UNSUBSCRIBE:
		return list_person(state, turn,
			&(struct listing){ .address_hash = action->address_hash,
				.source = OPTOUT_OWNER,
				.since_us = action->at_us,
				.reason = action->reason,
				.who = action->who,
				.cart_id = action->cart_id });
	case ADMIN_LIFT_SUPPRESSION:
		return lift(state, turn, action);
	case ADMIN_TAKE_BACK:
		return take_back(state, turn, action);
	case ADMIN_SETTLE_PRIVACY:
		return privacy_settle(state, action, turn);
	case ADMIN_SUPPRESS_CART:
	case ADMIN_WRITE_OFF:
	case ADMIN_OVERRIDE_WAIT:
	case ADMIN_RETIME:
		return TURN_DONE; /* these concern one cart, and intake hears them */
	}
	return turn_dead_letter(turn, "an action that unsub does not know");
}

const struct service unsub = {
	.name = "unsub",
	.batch_projections = true,
	.exclusive = true,
	.layout = 3,
	.hears = HEARING(HEARS(optout_request, hear_optout), HEARS(mail_feedback, hear_feedback),
		HEARS(admin_action, hear_action), HEARS(privacy_request, privacy_hear)),
	.remembers =
		REMEMBERING(REMEMBERS(suppression, suppressions_remember), REMEMBERS(privacy_state, privacy_remember),
			REMEMBERS(reminder_sent, rate_remember_sent), REMEMBERS(mail_feedback, rate_remember_feedback),
			REMEMBERS(shop_status, rate_remember_status), REMEMBERS(alarm, rate_remember_alarm)),
	.says = SAYING(SAYS(suppression), SAYS(privacy_state), SAYS(audit), SAYS(shop_status), SAYS(alarm)),
	.next_due_us = rate_next_due_us,
	.due = rate_due,
};
