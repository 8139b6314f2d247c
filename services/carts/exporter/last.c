/*
 * last.c: the latest audit of each cart
 *
 * Owns:      the table last (shop, cart id -> struct last) of the exporter's state.
 * Promises:  a cart that the ledger does not know (any more) leaves nothing here for longer than a day.
 */
#include "services/carts/exporter/last.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/report/ledger.h"

STATE_STRUCTS(last, "last", struct last);

void last_remember(struct state *state, const struct message_meta *said, const Audit *audit)
{
	struct last last;

	if (!audit->cart_id[0])
		return;
	memset(&last, 0, sizeof(last)); /* rows are compared as bytes */
	TEXT_COPY(last.action, audit->action);
	TEXT_COPY(last.grounds, audit->grounds); /* what does not fit is cut */
	last.at_us = audit->at_us;
	last.next_us = audit->next_us;
	STATE_PUT(state, last, said->shop, audit->cart_id, &last);
}

struct last last_of(const struct state *state, const char *shop, const char *cart_id)
{
	struct last last;

	STATE_GET(state, last, shop, cart_id, &last);
	return last;
}

struct forgetting {
	const struct state *state;
	struct buffer names;
};

static bool note_unknown(const char *shop, const char *cart_id, void *context)
{
	struct forgetting *forgetting = context;

	if (!STATE_HAS(forgetting->state, ledger_carts, shop, cart_id))
		buffer_add(&forgetting->names, cart_id, strlen(cart_id) + 1);
	return true;
}

void last_forget_unknown(struct state *state, const struct state_table *table, const char *shop)
{
	struct forgetting forgetting = { .state = state };

	state_walk_keys(state, table, shop, NULL, note_unknown, &forgetting);
	for (size_t at = 0; at < forgetting.names.len; at += strlen((const char *)forgetting.names.data + at) + 1)
		state_delete_row(state, table, shop, (const char *)forgetting.names.data + at);
	buffer_free(&forgetting.names);
}

void last_forget(struct state *state, const char *shop)
{
	last_forget_unknown(state, STATE_HANDLE(last), shop);
}
