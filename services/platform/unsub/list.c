/*
 * list.c: onto the list, and off it
 *
 * Owns:      suppression: one row per (shop, address hash), kept for ever.
 * Promises:  an address enters once and keeps its first source; only what was said on the page, which may be taken back there,
 *            gives way to any other source. Every change is audited with what stood there before.
 * Read next: unsub.c (who asks for it), services/carts/policy/stops.h (why a mail is stopped even while this process is down)
 */
#include "services/platform/unsub/list.h"
#include "bus/base/text.h"
#include "services/kit/suppression/suppressions.h"

bool list_has(const struct state *state, const char *shop, const char *address_hash, Suppression *ret_row)
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

void list_lift(struct turn *turn, const struct state *state, const Suppression *row, const AdminAction *action)
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
