/* view.h: the parts of the broker's answer to "status" that alarms need */
#ifndef PLATFORM_MONITOR_VIEW_H
#define PLATFORM_MONITOR_VIEW_H

#include <stdbool.h>
#include <stdint.h>

enum { VIEW_STRANGERS_MAX = 4 };

struct view {
	uint64_t dead;         /* dead letters of all queues */
	char dead_queues[120]; /* "sender (2), waiter (1)" */
	int queue_count;
	struct view_queue {
		char name[32];
		uint64_t failures; /* since the broker started */
	} * queues;
	/* log time of the oldest waiting message in a queue with ready messages; 0: none */
	int64_t oldest_ready_us;
	char oldest_queue[32];
	char paused[120];  /* queues that are paused because everything failed: "sender, waiter" */
	char missing[160]; /* services that have a queue and no session: "sender, waiter" */
	char away[160];    /* gateways that do not answer */
	uint64_t parked_claims;
	uint64_t free_bytes, headroom_bytes;
	bool is_short;
	uint64_t damaged_side_logs; /* damaged files of the side log that were put aside */
	struct view_strangers {
		char service[32];
		int64_t last_us; /* log time when a process of it last turned strangers away; 0: never */
	} strangers[VIEW_STRANGERS_MAX];
	int64_t turned_away_us; /* log time when the broker last had too many connections; 0: never */
	char turned_away[200];  /* whose */
	uint64_t aside_day;     /* mails that mailin put aside in the last 24 hours */
	bool aside_full;
	int64_t blobs_refused_us; /* log time when a process last refused a raw mail or a file for lack of room; 0: never */
	char blobs_refused[32]; /* the service whose refusal that was */
	/*
	 * shops whose webhooks a gateway refuses because their secret is unusable: the highest count of all
	 * gateways
	 */
	uint64_t secrets_unusable;
	bool clock_jumped;
	char clock[200]; /* the broker's text about it */
};

/* -EINVAL: it is no such answer. The caller calls view_clear in any case. */
int view_read(const char *json, struct view *ret);
void view_clear(struct view *view); /* forgets the queues; all else stays */

#endif
