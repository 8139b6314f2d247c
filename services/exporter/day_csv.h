/*
 * day_csv.h: the carts of one local day as CSV
 */
#ifndef EXPORTER_DAY_CSV_H
#define EXPORTER_DAY_CSV_H

#include "bus/actor/state.h"
#include "services/kit/shop.h"

struct day {
	char name[40]; /* "2026-11-20" */
	int64_t from_us, to_us;
	uint32_t carts, mails; /* counted by day_csv */
};

/* The local day that ended before `us`. -EINVAL: no such zone. */
int day_before(const char *zone, int64_t us, struct day *ret);
/* One row per cart to which something happened on that day; RFC 4180, and no cell that a spreadsheet takes for a formula. */
void day_csv(const struct state *state, const struct shop *shop, struct day *day, struct buffer *ret);

#endif
