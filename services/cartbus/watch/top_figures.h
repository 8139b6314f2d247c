/*
 * top_figures.h: the numbers of `cartbus top`: the broker's answers of the last minute, from which rates are
 * computed; short forms of numbers for a table; and the figures to show
 */
#ifndef CARTBUS_WATCH_TOP_FIGURES_H
#define CARTBUS_WATCH_TOP_FIGURES_H

#include "services/cartbus/watch/health.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the answers of the last minute ---- */

enum { LOOKS_MAX = 64 };

struct looks {
	int count; /* the last one is the newest */
	struct look {
		json_t *status; /* the broker's answer to "status" */
		int64_t at_us;  /* boot time */
	} each[LOOKS_MAX];
};

/* takes a reference; forgets answers older than a minute */
void looks_add(struct looks *looks, json_t *status, int64_t at_us);
void looks_forget(struct looks *looks);

/* Messages per second between the look before `at` and that one; negative: unknown. */
double looks_messages_s(const struct looks *looks, int at);

/*
 * The count of a process within the last `within_us`, as far as it was observed: since its start, under the
 * same broker.
 */
struct counted {
	double amount, seconds; /* seconds 0: unknown */
};

/* ---- short numbers for a table ---- */

enum { HUMAN_FORMAT_ROOM = 16 };

/* Each returns `ret`. */
const char *human_format_count(double number, char ret[HUMAN_FORMAT_ROOM]); /* "312", "12.3k", "4.1M" */
const char *human_format_rate(
	double per_second, char ret[HUMAN_FORMAT_ROOM]); /* "0", "0.3", "312", "12.3k"; negative: "-" */
const char *human_format_bytes(double bytes, char ret[HUMAN_FORMAT_ROOM]); /* "812K", "41.2G" */
const char *human_format_age(int64_t us, char ret[HUMAN_FORMAT_ROOM]);     /* "3s", "4min", "2h", "5d" */

/* ---- the figures to show ---- */

enum { TOP_QUEUES_MAX = 32, TOP_PROCESSES_MAX = 256 };

struct top_queue {
	const char *name, *outage; /* outage: why it is paused */
	double ready, leased, delayed, unread, failures, dead;
	int64_t oldest_us; /* age of the oldest message; 0: it is empty */
	bool is_paused;
};

struct top_process {
	const char *service, *instance, *host;
	double turns_s, effects_s; /* a second; negative: not known yet */
	/*
	 * 99 of 100 decisions of the last minute took at most this long; 0: there were none; INFINITY: longer
	 * than all bounds
	 */
	double p99_us;
	double in_flight, failures, timeouts, throttles, lag, memory_bytes;
};

enum top_order { TOP_BY_TURNS, TOP_BY_NAME, TOP_BY_ERRORS, TOP_BY_LAG, TOP_BY_MEMORY, TOP_ORDERS };
extern const char *const top_order_names[TOP_ORDERS];

struct top_figures { /* strings are borrowed from health and looks */
	const struct health *health;
	const struct looks *looks;
	bool is_red;
	int alarms;                    /* standing alarms, acknowledged or not */
	double messages_s, webhooks_s; /* a second; negative: not known yet */
	double head, uptime_us, disk_free_bytes, parked_claims, dead;
	double mails_day, mails_hour, mails_failed_day, recovered_day,
		timers_pending; /* negative: no monitor tells them */
	int64_t wall_us;        /* the broker's clock */
	/* when the first cart is decided on; 0: none waits, or no monitor reports it */
	int64_t next_cart_us;
	int queue_count, process_count;
	struct top_queue queues[TOP_QUEUES_MAX];
	struct top_process processes[TOP_PROCESSES_MAX];
};

/* Of the newest look, which must be there. Pure. */
void top_figures_of(
	const struct health *health, const struct looks *looks, enum top_order order, struct top_figures *ret);
json_t *top_figures_json(const struct top_figures *figures);

#endif
