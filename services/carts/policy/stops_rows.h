/* stops_rows.h: the rows of stops.c and stops_rows.c; no other file reads them */
#ifndef CARTS_POLICY_STOPS_ROWS_H
#define CARTS_POLICY_STOPS_ROWS_H

#include "services/carts/policy/change.h"
#include "services/carts/policy/stops.h"

enum { STOP_NAME_MAX = 80, STOP_PREFIX_MAX = STOP_NAME_MAX + 2, STOP_TIE = 0x1f };
#define STOP_TIES "\x1f"

struct stop_row {
	uint64_t seq;
	int64_t at_us;
	uint64_t stop; /* enum stop; of stops.listed: 1 listed, 0 lifted */
	uint64_t version;
};

/* One change, or several together: these without said_no. */
struct change_row {
	uint64_t seq; /* number of the newest change; 0: none, or one that is not in the log yet */
	int64_t at_us;
	uint64_t items_digest; /* 0: no change had items */
	int64_t total_minor;
	uint32_t has_total, emptied, saved_link, said_no;
	char currency[4];
	char email_hash[40];
};

struct status_row {
	uint64_t seq;
	int64_t at_us;
	uint64_t version;
	uint32_t mode, priority;
};

STATE_STRUCTS(stops_person, "stops.person", struct stop_row);
STATE_STRUCTS(stops_page, "stops.page", struct stop_row);
STATE_STRUCTS(stops_listed, "stops.listed", struct stop_row);
STATE_STRUCTS(stops_owner, "stops.owner", struct stop_row);
STATE_STRUCTS(stops_gone, "stops.gone", struct stop_row);
STATE_STRUCTS(stops_change, "stops.change", struct change_row);
STATE_STRUCTS(stops_status, "stops.status", struct status_row);
STATE_STRINGS(stops_tie, "stops.tie");

const char *stop_prefix(char to[STOP_PREFIX_MAX], const char *name); /* "name US" */
/*
 * Adds a change. Changes come in the order of the log, which may differ from the order in which they
 * happened.
 */
void stop_add_change(struct change_row *to, const struct change_row *change);

#endif
