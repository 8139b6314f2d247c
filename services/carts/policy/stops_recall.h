/*
 * stops_recall.h: every stop that a service has folded, for a restore: the log that it was folded from is gone
 */
#ifndef CARTS_POLICY_STOPS_RECALL_H
#define CARTS_POLICY_STOPS_RECALL_H

#include "services/carts/policy/stops.h"

enum stop_recalled_kind {
	RECALLED_PERSON,
	RECALLED_PAGE,
	RECALLED_LISTED,
	RECALLED_OWNER,
	RECALLED_MODE,
	RECALLED_GONE
};

struct stop_recalled {
	enum stop_recalled_kind kind;
	const char *shop, *key; /* key: an address hash; of RECALLED_OWNER "id:<cart id>" */
	uint64_t seq, version;
	int64_t at_us;
	enum stop stop;
	ShopMode mode; /* of RECALLED_MODE */
	uint32_t priority;
};

/* What was lifted is left out. */
typedef void stop_recalled_fn(const struct stop_recalled *row, void *context);
void stops_recall(const struct state *state, stop_recalled_fn *each, void *context);

#endif
