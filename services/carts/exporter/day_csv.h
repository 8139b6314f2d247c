/*
 * day_csv.h: the carts of one local day as CSV
 */
#ifndef CARTS_EXPORTER_DAY_CSV_H
#define CARTS_EXPORTER_DAY_CSV_H

#include "bus/actor/state.h"
#include "services/kit/rules/rules.h"
#include "services/kit/shop/shop.h"
#include "services/kit/time/period.h"

struct day {
	struct period period;
	uint32_t carts, mails; /* counted by day_csv */
};

/* What of the installation stands in the file: where the owner's links lead, and the key they are signed with. */
struct day_links {
	char public_url[256];
	uint8_t key[128];
	size_t key_len; /* 0: no links */
};

/* One row per cart to which something happened on that day; RFC 4180, and no cell that a spreadsheet takes for a formula. */
void day_csv(const struct state *state, const struct shop *shop, const struct rules *rules,
	const struct day_links *links, struct day *day, struct buffer *ret);

#endif
