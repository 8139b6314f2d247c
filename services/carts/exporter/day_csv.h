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

/* The installation's part of the file: the address of the owner's links, and the key that signs them. */
struct day_links {
	char public_url[256];
	uint8_t key[128];
	size_t key_len; /* 0: no links */
};

/*
 * Appends one row for each cart that changed on that day. The format is RFC 4180; no cell can be taken for a
 * formula by a spreadsheet.
 */
void day_csv(const struct state *state, const struct shop *shop, const struct rules *rules,
	const struct day_links *links, struct day *day, struct buffer *ret);

#endif
