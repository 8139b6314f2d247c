/*
 * month.h: a month of one shop in plain sentences
 */
#ifndef SUMMARIZER_MONTH_H
#define SUMMARIZER_MONTH_H

#include "bus/actor/state.h"
#include "services/kit/shop.h"

struct month {
	char name[12]; /* "2026-10" */
	int64_t from_us, to_us;
};

/* The local calendar month before the one that `us` lies in. -EINVAL: no such zone. */
int month_before(const char *zone, int64_t us, struct month *ret);
void month_text(const struct state *state, const struct shop *shop, const struct month *month, struct buffer *ret);

#endif
