/*
 * stops_rows.c: folds the raw messages that forbid a send
 *
 * Promises:  the order of messages changes only which of several stops is named. An older change never hides
 *            a newer one. Lifting a suppression removes the stops that came before it, and none that came
 *            after.
 * Read next: stops.c (which stop holds)
 */
#include "services/carts/policy/stops_rows.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/policy/change.h"
#include "services/carts/policy/purchases.h"
#include "services/carts/policy/stops.h"
#include <stdio.h>
#include <string.h>

const char *stop_prefix(char to[STOP_PREFIX_MAX], const char *name)
{
	snprintf(to, STOP_PREFIX_MAX, "%.*s%c", STOP_NAME_MAX, name, STOP_TIE);
	return to;
}

/*
 * The row is written again for each message that ties the names, so the log forgets it with the newest of
 * them.
 */
static void tie(struct state *state, const char *shop, const char *from, const char *to, const char *end)
{
	char key[2 * STOP_NAME_MAX + 3];

	snprintf(key, sizeof(key), "%s%c%s%s", from, STOP_TIE, to, end);
	STATE_PUT_STRING(state, stops_tie, shop, key, BYTES("", 0));
}

/* Ties all names of one message to the first of them, both ways. */
static int tie_names(
	struct state *state, const char *shop, const CartIds *ids, const char *end, char ret[JOIN_NAMES_MAX][80])
{
	int count = join_names(ids, ret);

	for (int i = 1; i < count; i++) {
		tie(state, shop, ret[0], ret[i], end);
		tie(state, shop, ret[i], ret[0], end);
	}
	return count;
}

static void add_contents(struct change_row *to, const struct change_row *change, bool newer)
{
	if (change->items_digest && (newer || !to->items_digest)) {
		to->items_digest = change->items_digest;
		to->emptied = change->emptied;
	}
	if (change->has_total && (newer || !to->has_total)) {
		to->has_total = true;
		to->total_minor = change->total_minor;
		TEXT_COPY(to->currency, change->currency);
	}
	if (*change->email_hash && (newer || !*to->email_hash))
		TEXT_COPY(to->email_hash, change->email_hash);
	to->saved_link |= change->saved_link;
}

/*
 * One time stands for all fields, as in the row of the cart (services/carts/intake/upsert.c). A no is not
 * among them: it has a time of its own (stops.c).
 */
void stop_add_change(struct change_row *to, const struct change_row *change)
{
	bool newer = change->at_us >= to->at_us;

	add_contents(to, change, newer);
	if (!newer)
		return;
	to->at_us = change->at_us;
	to->seq = change->seq;
}

static struct change_row change_of(const struct message_meta *said, const CartChanged *changed)
{
	struct change_row row;

	memset(&row, 0, sizeof(row)); /* rows are compared as bytes */
	row.seq = said->seq;
	row.at_us = change_us(changed);
	if (changed->has_items)
		row.items_digest = change_items_digest(changed->items, changed->items_count, changed->items_left_out);
	row.emptied = change_empties(changed);
	row.has_total = changed->has_total;
	row.saved_link = changed->saved_link;
	row.said_no = changed->consent == CONSENT_NO;
	if (changed->has_total) {
		row.total_minor = changed->total_minor;
		TEXT_COPY(row.currency, changed->currency);
	}
	TEXT_COPY(row.email_hash, changed->ids.email_hash);
	return row;
}

/*
 * Each change has a row of its own: when the log forgets a change, its row must go, and the rows of the other
 * changes must stay.
 */
void stops_remember_changed(struct state *state, const struct message_meta *said, const CartChanged *changed)
{
	char names[JOIN_NAMES_MAX][80], prefix[STOP_PREFIX_MAX], key[STOP_PREFIX_MAX + 17];
	struct change_row row;

	if (tie_names(state, said->shop, &changed->ids, STOP_TIES, names) == 0)
		return;
	row = change_of(said, changed);
	snprintf(key, sizeof(key), "%s%016llx", stop_prefix(prefix, names[0]), (unsigned long long)said->seq);
	STATE_PUT(state, stops_change, said->shop, key, &row);
}

/*
 * A test order stops mails too, because it is placed to see that it does. A cancelled order takes no stop
 * back, and stops mails only if it was paid before.
 */
void stops_remember_checkout(struct state *state, const struct message_meta *said, const CartCheckout *checkout)
{
	char names[JOIN_NAMES_MAX][80];

	tie_names(state, said->shop, &checkout->ids, "", names);
	purchases_remember(state, said, checkout);
}

/* The first reason for a stop is kept. */
static void remember_person(
	struct state *state, const struct message_meta *said, const char *address_hash, enum stop stop, int64_t at_us)
{
	struct stop_row row;

	if (!*address_hash || (STATE_GET(state, stops_person, said->shop, address_hash, &row) && row.stop))
		return;
	row = (struct stop_row){ .seq = said->seq, .at_us = at_us, .stop = stop };
	STATE_PUT(state, stops_person, said->shop, address_hash, &row);
}

/* The shopper may take back on the page an opt-out that was made there, so it has a row of its own. */
static void remember_on_page(struct state *state, const struct message_meta *said, const OptoutRequest *asked)
{
	struct stop_row row;

	if (!*asked->address_hash || (STATE_GET(state, stops_page, said->shop, asked->address_hash, &row) && row.stop))
		return;
	row = (struct stop_row){ .seq = said->seq, .at_us = asked->heard_us, .stop = STOP_OPTED_OUT };
	STATE_PUT(state, stops_page, said->shop, asked->address_hash, &row);
}

static enum stop optout_stop(OptoutSource source)
{
	switch (source) {
	case OPTOUT_PAGE:
	case OPTOUT_ONE_CLICK:
	case OPTOUT_PRIVACY:
	case OPTOUT_IMPORT:
	case OPTOUT_OWNER:
		return STOP_OPTED_OUT;
	case OPTOUT_COMPLAINT:
		return STOP_COMPLAINED;
	case OPTOUT_BOUNCE:
		return STOP_BOUNCED;
	}
	return STOP_OPTED_OUT;
}

void stops_remember_optout(struct state *state, const struct message_meta *said, const OptoutRequest *asked)
{
	if (asked->source == OPTOUT_PAGE)
		remember_on_page(state, said, asked);
	else
		remember_person(state, said, asked->address_hash, optout_stop(asked->source), asked->heard_us);
}

void stops_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback)
{
	switch (feedback->kind) {
	case FEEDBACK_COMPLAINT:
		remember_person(state, said, feedback->address_hash, STOP_COMPLAINED, feedback->heard_us);
		return;
	case FEEDBACK_BOUNCE_PERMANENT:
		remember_person(state, said, feedback->address_hash, STOP_BOUNCED, feedback->heard_us);
		return;
	case FEEDBACK_BOUNCE_TRANSIENT:
		return;
	}
}

static void remember_owners_stop(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	struct stop_row row = { .seq = said->seq, .at_us = action->at_us, .stop = STOP_BY_OWNER };
	char name[STOP_NAME_MAX];

	if (!*action->cart_id)
		return;
	snprintf(name, sizeof(name), "id:%s", action->cart_id);
	if (!STATE_HAS(state, stops_owner, said->shop, name))
		STATE_PUT(state, stops_owner, said->shop, name, &row);
}

static struct stop_row lifted_by(const struct message_meta *said, const AdminAction *action)
{
	return (struct stop_row){ .seq = said->seq, .at_us = action->at_us, .stop = STOP_NONE };
}

static void lift(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	struct stop_row lifted = lifted_by(said, action);

	if (!*action->address_hash)
		return;
	STATE_PUT(state, stops_person, said->shop, action->address_hash, &lifted);
	STATE_PUT(state, stops_page, said->shop, action->address_hash, &lifted);
}

static void take_back(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	struct stop_row row;

	if (!STATE_GET(state, stops_page, said->shop, action->address_hash, &row) || row.at_us > action->listed_by_us ||
		!*action->address_hash)
		return;
	row = lifted_by(said, action);
	STATE_PUT(state, stops_page, said->shop, action->address_hash, &row);
}

/* The remaining data of such a shop were erased. If it comes back, it is treated like any other shop. */
static void take_up_shop(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	struct stop_row row;

	if (STATE_GET(state, stops_gone, said->shop, "", &row) &&
		row.version == text_hash(bytes_of(action->request_id)))
		STATE_DELETE(state, stops_gone, said->shop, "");
}

void stops_remember_action(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	switch (action->verb) {
	case ADMIN_SUPPRESS_CART:
	case ADMIN_WRITE_OFF:
		remember_owners_stop(state, said, action);
		return;
	case ADMIN_UNSUBSCRIBE:
		remember_person(state, said, action->address_hash, STOP_OPTED_OUT, action->at_us);
		if (!*action->address_hash)
			remember_owners_stop(state, said, action);
		return;
	case ADMIN_LIFT_SUPPRESSION:
		lift(state, said, action);
		return;
	case ADMIN_TAKE_BACK:
		take_back(state, said, action);
		return;
	case ADMIN_SETTLE_PRIVACY:
		take_up_shop(state, said, action);
		return;
	case ADMIN_OVERRIDE_WAIT:
	case ADMIN_RETIME:
		return;
	}
}

void stops_remember_privacy(struct state *state, const struct message_meta *said, const PrivacyRequest *request)
{
	struct stop_row gone = { .seq = said->seq,
		.at_us = request->heard_us,
		.stop = STOP_PAUSED,
		.version = text_hash(bytes_of(request->request_id)) };

	switch (request->kind) {
	case PRIVACY_REDACT_CUSTOMER:
		remember_person(state, said, request->address_hash, STOP_OPTED_OUT, request->heard_us);
		return;
	case PRIVACY_REDACT_SHOP:
		STATE_PUT(state, stops_gone, said->shop, "", &gone);
		return;
	case PRIVACY_DATA_REQUEST:
		return;
	}
}

/* A pause stays until a status of at least its priority lifts it. */
void stops_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status)
{
	struct status_row row;
	bool known = STATE_GET(state, stops_status, said->shop, "", &row);

	if (known && status->version < row.version)
		return;
	if (known && row.mode == MODE_PAUSED && status->priority < row.priority)
		return;
	row = (struct status_row){ .seq = said->seq,
		.at_us = status->at_us,
		.version = status->version,
		.mode = status->mode,
		.priority = status->priority };
	STATE_PUT(state, stops_status, said->shop, "", &row);
}

/*
 * The list's rows are compacted by version, so the row with the highest version holds, in any order of
 * reading.
 */
void stops_remember_suppression(struct state *state, const struct message_meta *said, const Suppression *fact)
{
	struct stop_row row;

	if (STATE_GET(state, stops_listed, said->shop, fact->address_hash, &row) && row.version > said->version)
		return;
	row = (struct stop_row){
		.seq = said->seq, .at_us = fact->since_us, .stop = !fact->lifted, .version = said->version
	};
	STATE_PUT(state, stops_listed, said->shop, fact->address_hash, &row);
}

/* --- every stop that a service has folded --- */

struct walking {
	stop_recalled_fn *each;
	void *context;
	enum stop_recalled_kind kind;
};

static bool take_row(const char *shop, const char *key, const struct stop_row *row, void *context)
{
	const struct walking *walking = context;

	if (row->stop)
		walking->each(&(struct stop_recalled){ .kind = walking->kind,
				      .shop = shop,
				      .key = key,
				      .seq = row->seq,
				      .version = row->version,
				      .at_us = row->at_us,
				      .stop = (enum stop)row->stop },
			walking->context);
	return true;
}

static bool take_mode(const char *shop, const char *key, const struct status_row *row, void *context)
{
	const struct walking *walking = context;

	walking->each(&(struct stop_recalled){ .kind = RECALLED_MODE,
			      .shop = shop,
			      .key = key,
			      .seq = row->seq,
			      .version = row->version,
			      .at_us = row->at_us,
			      .mode = (ShopMode)row->mode,
			      .priority = row->priority },
		walking->context);
	return true;
}

void stops_recall(const struct state *state, stop_recalled_fn *each, void *context)
{
	struct walking walking = { .each = each, .context = context };

	walking.kind = RECALLED_PERSON;
	STATE_EACH(state, stops_person, NULL, NULL, take_row, &walking);
	walking.kind = RECALLED_PAGE;
	STATE_EACH(state, stops_page, NULL, NULL, take_row, &walking);
	walking.kind = RECALLED_LISTED;
	STATE_EACH(state, stops_listed, NULL, NULL, take_row, &walking);
	walking.kind = RECALLED_OWNER;
	STATE_EACH(state, stops_owner, NULL, NULL, take_row, &walking);
	walking.kind = RECALLED_GONE;
	STATE_EACH(state, stops_gone, NULL, NULL, take_row, &walking);
	STATE_EACH(state, stops_status, NULL, NULL, take_mode, &walking);
}
