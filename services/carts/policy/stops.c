/*
 * stops.c: decides from the raw messages which stop forbids a send
 *
 * Owns:      the tables stops.* of a service's state:
 *              stops.tie      name US name      two ids of one cart that a purchase named, both ways
 *                                               (US: the unit separator, 0x1f)
 *                             name US name US   the same, named by a change; the log forgets them with that
 *                                               change, and by then the cart's row has both ids
 *              stops.change   name US number    the contents of one raw change of this cart
 *              stops.person   address hash      the first opt-out, complaint or bounce since the last lift
 *              stops.page     address hash      the first opt-out on the page, which may be taken back there
 *              stops.listed   address hash      the row of the suppression list
 *              stops.owner    id:<cart id>      the owner suppressed the cart or wrote it off
 *              stops.status   shop              the kill switch; of SHOP_OF_ALL, that of every shop
 *              stops.gone     shop              the storefront asked to erase the whole shop
 *            and purchases (purchases.c): the orders, by every name and by address
 * Promises:  a message stops mails as soon as it is confirmed to the outside, before intake and unsub have
 *            decided on it; in doubt a stop applies. A purchase stops every cart that shares an id with it
 *            for good, so a storefront must not give the token of a bought cart to the shopper's next cart. A
 *            stop outlives every chase, because its messages are kept for ever.
 * Fails by:  nothing; of a cart with more than WALK_MOST names only the first ones are checked.
 * Read next: stops_rows.c (the folds), change.h
 */
#include "services/carts/policy/stops.h"
#include "bus/base/text.h"
#include "services/carts/policy/change.h"
#include "services/carts/policy/purchases.h"
#include "services/carts/policy/stops_rows.h"
#include <string.h>

enum { WALK_MOST = 64 };

static struct stopped stopped_by(enum stop stop, uint64_t seq, int64_t at_us)
{
	return (struct stopped){ .stop = stop, .seq = seq, .at_us = at_us };
}

struct walk {
	int count, next;
	char names[WALK_MOST][STOP_NAME_MAX];
};

static void walk_add(struct walk *walk, const char *name)
{
	for (int i = 0; i < walk->count; i++) {
		if (strcmp(walk->names[i], name) == 0)
			return;
	}
	if (walk->count < WALK_MOST)
		TEXT_COPY(walk->names[walk->count++], name);
}

static bool walk_along(const char *shop, const char *key, void *context)
{
	const char *other = strchr(key, STOP_TIE);
	char name[STOP_NAME_MAX];

	(void)shop;
	if (other && text_copy_bytes(name, sizeof(name), BYTES(other + 1, strcspn(other + 1, STOP_TIES))))
		walk_add(context, name);
	return true;
}

static void walk_from(struct walk *walk, const CartIds *ids)
{
	char names[JOIN_NAMES_MAX][80];
	int count = join_names(ids, names);

	for (int i = 0; i < count; i++)
		walk_add(walk, names[i]);
}

/* Collects every name of this cart, its own ids first. */
static void walk_cart(const struct state *state, const char *shop, const CartState *cart, struct walk *walk)
{
	walk->count = walk->next = 0;
	walk_from(walk, &cart->ids);
	for (int i = 0; i < cart->also_count; i++)
		walk_from(walk, &cart->also[i]);
	for (int i = 0; i < cart->merged_from_count; i++) {
		CartIds merged = { 0 };

		TEXT_COPY(merged.cart_id, cart->merged_from[i]);
		walk_from(walk, &merged);
	}
	while (walk->next < walk->count) {
		char prefix[STOP_PREFIX_MAX];

		stop_prefix(prefix, walk->names[walk->next++]);
		STATE_EACH_KEY(state, stops_tie, shop, prefix, walk_along, walk);
	}
}

static struct stopped by_owner(const struct state *state, const char *shop, const struct walk *walk)
{
	struct stop_row row;

	for (int i = 0; i < walk->count; i++) {
		if (STATE_GET(state, stops_owner, shop, walk->names[i], &row))
			return stopped_by(STOP_BY_OWNER, row.seq, row.at_us);
	}
	return (struct stopped){ 0 };
}

static void note_unpaid(const struct orders *orders, struct purchase *latest)
{
	if (orders->not_yet.last_us > latest->last_us)
		*latest = orders->not_yet;
}

/* `name`: the name of a purchaser (purchases.h). */
static struct stopped by_buyer(
	const struct state *state, const char *shop, const CartState *cart, const char *name, struct purchase *unpaid)
{
	struct orders orders = purchases_by(state, shop, name);

	note_unpaid(&orders, unpaid);
	if (!orders.bought.last_us || cart->abandoned_us > orders.bought.last_us + CLOCKS_DIFFER_US)
		return (struct stopped){ 0 }; /* a new cart of a shopper who bought before */
	return stopped_by(STOP_BOUGHT, orders.bought.last_seq, orders.bought.last_us);
}

/* The stop by the address or the customer id in `ids`. */
static struct stopped by_buyer_of(
	const struct state *state, const char *shop, const CartState *cart, const CartIds *ids, struct purchase *unpaid)
{
	struct stopped stopped = { 0 };
	char name[PURCHASER_MAX];

	if (*ids->email_hash)
		stopped = by_buyer(state, shop, cart, purchases_of_address(ids->email_hash, name), unpaid);
	if (!stopped.stop && *ids->customer_id)
		stopped = by_buyer(state, shop, cart, purchases_of_customer(ids->customer_id, name), unpaid);
	return stopped;
}

static struct stopped by_purchase(const struct state *state, const char *shop, const CartState *cart,
	const struct walk *walk, struct purchase *unpaid)
{
	struct stopped stopped = { 0 };

	for (int i = 0; i < walk->count; i++) {
		struct orders orders = purchases_by(state, shop, walk->names[i]);
		note_unpaid(&orders, unpaid);
		if (orders.bought.last_us)
			return stopped_by(STOP_BOUGHT, orders.bought.first_seq, orders.bought.first_us);
	}
	stopped = by_buyer_of(state, shop, cart, &cart->ids, unpaid);
	for (int i = 0; !stopped.stop && i < cart->also_count; i++)
		stopped = by_buyer_of(state, shop, cart, &cart->also[i], unpaid);
	return stopped;
}

static struct stopped by_person(const struct state *state, const char *shop, const char *address_hash)
{
	struct stop_row row;

	if (!*address_hash)
		return (struct stopped){ 0 };
	if (STATE_GET(state, stops_person, shop, address_hash, &row) && row.stop)
		return stopped_by((enum stop)row.stop, row.seq, row.at_us);
	if (STATE_GET(state, stops_page, shop, address_hash, &row) && row.stop)
		return stopped_by((enum stop)row.stop, row.seq, row.at_us);
	if (STATE_GET(state, stops_listed, shop, address_hash, &row) && row.stop)
		return stopped_by(STOP_SUPPRESSED, row.seq, row.at_us);
	return (struct stopped){ 0 };
}

struct changes {
	struct change_row all; /* combined */
	int64_t said_no_us;    /* the newest change with a no; INT64_MIN: none */
};

static enum stop change_stop(const CartState *cart, const struct changes *changes)
{
	const struct change_row *row = &changes->all;

	if (row->emptied && row->at_us >= cart->changed_us)
		return STOP_EMPTIED;
	if (changes->said_no_us != INT64_MIN && changes->said_no_us >= consent_us(cart) && cart->consent != CONSENT_NO)
		return STOP_CHANGED;
	if (row->at_us <= cart->changed_us)
		return STOP_NONE; /* the row of the decision contains this change */
	if (row->items_digest &&
		row->items_digest != change_items_digest(cart->items, cart->items_count, cart->items_left_out))
		return STOP_CHANGED;
	if (row->has_total && (row->total_minor != cart->total_minor || strcmp(row->currency, cart->currency) != 0))
		return STOP_CHANGED;
	if (*row->email_hash && strcmp(row->email_hash, cart->ids.email_hash) != 0)
		return STOP_CHANGED;
	return row->saved_link && !cart->saved_link ? STOP_CHANGED : STOP_NONE;
}

static bool add_change(const char *shop, const char *key, const struct change_row *one, void *context)
{
	struct changes *changes = context;

	(void)shop, (void)key;
	stop_add_change(&changes->all, one);
	if (one->said_no && one->at_us > changes->said_no_us)
		changes->said_no_us = one->at_us;
	return true;
}

/* Combines all changes under this name; false: there are none. */
static bool changes_by(const struct state *state, const char *shop, const char *name, struct changes *ret)
{
	char prefix[STOP_PREFIX_MAX];

	*ret = (struct changes){ .said_no_us = INT64_MIN };
	STATE_EACH(state, stops_change, shop, stop_prefix(prefix, name), add_change, ret);
	return ret->all.seq > 0;
}

/* Looks under each of the cart's names; "emptied" counts before "changed". */
static struct stopped by_change(
	const struct state *state, const char *shop, const CartState *cart, const struct walk *walk)
{
	struct stopped found = { 0 };
	struct changes changes;

	for (int i = 0; i < walk->count; i++) {
		enum stop stop;

		if (!changes_by(state, shop, walk->names[i], &changes))
			continue;
		stop = change_stop(cart, &changes);
		if (stop == STOP_EMPTIED || (stop == STOP_CHANGED && !found.stop))
			found = stopped_by(stop, changes.all.seq, changes.all.at_us);
	}
	return found;
}

static bool is_paused(const struct state *state, const char *shop, struct status_row *ret)
{
	return STATE_GET(state, stops_status, shop, "", ret) && ret->mode == MODE_PAUSED;
}

static struct stopped by_status(const struct state *state, const char *shop)
{
	struct status_row row;
	struct stop_row gone;

	if (is_paused(state, SHOP_OF_ALL, &row) || is_paused(state, shop, &row))
		return stopped_by(STOP_PAUSED, row.seq, row.at_us);
	if (STATE_GET(state, stops_gone, shop, "", &gone))
		return stopped_by(STOP_PAUSED, gone.seq, gone.at_us);
	return (struct stopped){ 0 };
}

static struct stopped strongest(
	const struct state *state, const char *shop, const CartState *cart, struct purchase *unpaid)
{
	struct walk walk;
	struct stopped stopped, changed;

	walk_cart(state, shop, cart, &walk);
	stopped = by_purchase(state, shop, cart, &walk, unpaid);
	if (!stopped.stop)
		stopped = by_person(state, shop, cart->ids.email_hash);
	if (!stopped.stop)
		stopped = by_owner(state, shop, &walk);
	if (stopped.stop)
		return stopped;
	changed = by_change(state, shop, cart, &walk);
	if (changed.stop == STOP_EMPTIED)
		return changed;
	stopped = by_status(state, shop);
	return stopped.stop ? stopped : changed;
}

struct stopped stops_for(const struct state *state, const char *shop, const CartState *cart)
{
	struct purchase unpaid = { 0 };
	struct stopped stopped = strongest(state, shop, cart, &unpaid);

	stopped.unpaid_us = unpaid.last_us;
	stopped.unpaid_seq = unpaid.last_seq;
	return stopped;
}

const char *stop_name(enum stop stop)
{
	switch (stop) {
	case STOP_NONE:
		return "nothing";
	case STOP_BOUGHT:
		return "bought";
	case STOP_OPTED_OUT:
		return "opted out";
	case STOP_COMPLAINED:
		return "complained";
	case STOP_BOUNCED:
		return "bounced";
	case STOP_SUPPRESSED:
		return "suppressed";
	case STOP_BY_OWNER:
		return "stopped by the owner";
	case STOP_EMPTIED:
		return "emptied";
	case STOP_CHANGED:
		return "changed";
	case STOP_PAUSED:
		return "paused";
	}
	return "nothing";
}

ShopMode stops_mode(const struct state *state, const char *shop)
{
	struct status_row row;

	if (by_status(state, shop).stop)
		return MODE_PAUSED;
	if (!STATE_GET(state, stops_status, shop, "", &row))
		return MODE_OBSERVE;
	return (ShopMode)row.mode;
}
