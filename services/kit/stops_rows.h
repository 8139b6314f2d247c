/*
 * stops_rows.h: how stops.c and stops_rows.c lay down what they remember; nobody else reads it
 */
#ifndef KIT_STOPS_ROWS_H
#define KIT_STOPS_ROWS_H

#include "services/kit/join.h"
#include "services/kit/stops.h"

enum { STOP_NAME_MAX = 80, STOP_TIE = 0x1f };

struct stop_row {
	uint64_t seq;
	int64_t at_us;
	uint64_t stop; /* enum stop; of stops.listed: 1 listed, 0 lifted */
	uint64_t version;
};

struct change_row {
	uint64_t seq;
	int64_t at_us;         /* of the newest change */
	uint64_t items_digest; /* 0: no change spoke of items */
	int64_t total_minor;
	uint32_t has_total, emptied, saved_link;
	char currency[4];
	char email_hash[40];
};

struct status_row {
	uint64_t seq;
	int64_t at_us;
	uint64_t version;
	uint32_t mode, priority;
};

#endif
