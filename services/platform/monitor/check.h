/* check.h: the conditions of alarms: pure functions over the broker's answer and the folded state */
#ifndef PLATFORM_MONITOR_CHECK_H
#define PLATFORM_MONITOR_CHECK_H

#include "bus/actor/state.h"
#include "proto/platform_topics.h"
#include "services/kit/model/spend.h"
#include "services/platform/monitor/channels.h"
#include "services/platform/monitor/view.h"

enum condition {
	CONDITION_DEAD_LETTERS,
	CONDITION_FAILURES,
	CONDITION_QUEUE_PAUSED,
	CONDITION_QUEUE_STUCK,
	CONDITION_SERVICE_MISSING,
	CONDITION_GATEWAY_AWAY,
	CONDITION_CLAIMS_PARKED,
	CONDITION_NOTHING_SENT,
	CONDITION_TIMERS_LATE,
	CONDITION_AMBIGUOUS,
	CONDITION_SENDER_FAILURES,
	CONDITION_WAITER_ERRORS,
	CONDITION_DISK,
	CONDITION_CLOCK,
	CONDITION_UNDELIVERED,
	CONDITION_BUDGET,
	CONDITION_BUDGET_SPENT,
	CONDITION_BACKUP,
	CONDITION_CONNECTIONS,
	CONDITION_MAILS_ASIDE,
	CONDITION_STRANGERS,
	CONDITION_SIDE_LOG,
	CONDITION_WEBHOOK_SECRETS,
	CONDITION_BLOBS_REFUSED,
	CONDITION_COUNT
};

struct circumstances {
	const struct state *state;
	const struct view *view;
	const struct channels *channels; /* the channels to the admin */
	uint32_t sender_failures_least;  /* [monitor] sender-failures */
	struct budget budget;
	int64_t now_us;
	bool no_backups;   /* [backup] keep is 0 */
	double clock_rate; /* the hours of a demo pass in seconds, and nobody can react that fast */
};

/* Is it so now? Fills `ret` but for raised and at_us. */
bool check(enum condition condition, const struct circumstances *now, Alarm *ret);
/* How long a condition must last, in boot time, before it is reported, because a restart is no alarm. */
int64_t condition_patience_us(enum condition condition);

/* ---- conditions of one shop ---- */

enum shop_condition { SHOP_SIGNATURES, SHOP_PREVIOUS_SECRET, SHOP_SILENT, SHOP_LINKS, SHOP_CONDITIONS };

/* Is it so now? Fills `ret` but for raised and at_us. */
bool check_shop(const struct state *state, const char *shop, enum shop_condition condition, int64_t now_us, Alarm *ret);

#endif
