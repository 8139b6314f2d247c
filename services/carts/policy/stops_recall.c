/*
 * stops_recall.c: every stop that a service has folded
 *
 * Read next: stops_rows.c (the rows), services/cartbus/backup/recall_stops.c (who learns them)
 */
#include "services/carts/policy/stops_recall.h"
#include "services/carts/policy/stops_rows.h"
#include <string.h>

struct walking {
	stop_recalled_fn *each;
	void *context;
	enum stop_recalled_kind kind;
};

static bool take_row(const char *shop, const char *key, struct bytes value, void *context)
{
	const struct walking *walking = context;
	struct stop_row row;

	if (value.len != sizeof(row))
		return true;
	memcpy(&row, value.data, sizeof(row));
	if (row.stop)
		walking->each(&(struct stop_recalled){ .kind = walking->kind,
				      .shop = shop,
				      .key = key,
				      .seq = row.seq,
				      .version = row.version,
				      .at_us = row.at_us,
				      .stop = (enum stop)row.stop },
			walking->context);
	return true;
}

static bool take_mode(const char *shop, const char *key, struct bytes value, void *context)
{
	const struct walking *walking = context;
	struct status_row row;

	if (value.len != sizeof(row))
		return true;
	memcpy(&row, value.data, sizeof(row));
	walking->each(&(struct stop_recalled){ .kind = RECALLED_MODE,
			      .shop = shop,
			      .key = key,
			      .seq = row.seq,
			      .version = row.version,
			      .at_us = row.at_us,
			      .mode = (ShopMode)row.mode,
			      .priority = row.priority },
		walking->context);
	return true;
}

void stops_recall(const struct state *state, stop_recalled_fn *each, void *context)
{
	static const struct {
		const char *table;
		enum stop_recalled_kind kind;
	} tables[] = { { "stops.person", RECALLED_PERSON }, { "stops.page", RECALLED_PAGE },
		{ "stops.listed", RECALLED_LISTED }, { "stops.owner", RECALLED_OWNER },
		{ "stops.gone", RECALLED_GONE } };
	struct walking walking = { .each = each, .context = context };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		walking.kind = tables[i].kind;
		state_each(state, tables[i].table, NULL, NULL, take_row, &walking);
	}
	state_each(state, "stops.status", NULL, NULL, take_mode, &walking);
}
