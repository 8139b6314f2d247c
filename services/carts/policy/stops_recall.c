/*
 * stops_recall.c: every stop that a service has folded
 *
 * Read next: stops_rows.c (the rows), services/cartbus/backup/recall.c (who learns them)
 */
#include "services/carts/policy/stops_recall.h"
#include "services/carts/policy/stops_rows.h"
#include <string.h>

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
