/*
 * rows.c: timers ordered by due time
 *
 * Owns:      the tables timer (name -> TimerSet with its next due time), version (name -> the highest version seen), due (one
 *            order over all shops: due time, shop, name -> nothing), head (where to begin in it) and again (timers to be set anew).
 * Promises:  a set or cancel is ignored if the service that sent it may not set such timers (rights.h);
 *            rights.c then notes it. An older set or cancel is ignored, also after the newer timer has fired,
 *            and so is the firing of a timer that a newer set of the same version has replaced; the next
 *            timers are found by one seek. A cron timer's next time is counted from the log time of the
 *            message that set it, so every replay gives the same.
 * Fails by:  leaving out a cron timer whose text or zone cannot be read: the service that sets one checks it first (kit/time/zone.h).
 * Read next: timer.c
 */
#include "services/platform/timer/rows.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/time/zone.h"
#include "services/platform/timer/rights.h"
#include <inttypes.h>
#include <stdio.h>

STATE_STRINGS(head, "head");
STATE_STRINGS(due, "due");
STATE_STRINGS(again, "again");
STATE_NUMBERS(version, "version");

static const char ALL_SHOPS[] = "all";

enum {
	DUE_KEY_MAX = 256,
	BETWEEN = 0x1f,
	REMOVED_MOST = 64, /* rows that may be removed before the head is moved past them */
};

/*
 * Rows of fired timers come before those that are due next, and the store walks over each removed row until
 * it is compacted away. So a search begins at the head: no row of the log's order lies before it. Only
 * messages of the log move the head, because a head in the overlay of an unconfirmed turn would hide the
 * changes that messages make to it meanwhile.
 */
struct head {
	uint64_t removed; /* rows since it was moved */
	char key[DUE_KEY_MAX];
};

static const char *due_key(char to[DUE_KEY_MAX], int64_t due_us, const char *shop, const char *name)
{
	snprintf(to, DUE_KEY_MAX, "%016" PRIx64 "%s%c%s", (uint64_t)(due_us > 0 ? due_us : 0), shop, BETWEEN, name);
	return to;
}

static struct head head_of(const struct state *state)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	struct head head = { 0 };

	if (STATE_GET_STRING(state, head, ALL_SHOPS, "", &row) && row.len >= 8) {
		head.removed = get_be64(row.data);
		TEXT_COPY(head.key, buffer_text(&row) + 8);
	}
	return head;
}

static void put_head(struct state *state, const struct head *head)
{
	uint8_t row[8 + DUE_KEY_MAX];
	size_t len = strlen(head->key);

	put_be64(row, head->removed);
	memcpy(row + 8, head->key, len);
	STATE_PUT_STRING(state, head, ALL_SHOPS, "", BYTES(row, 8 + len));
}

static bool first_key(const char *shop, const char *key, struct bytes value, void *context)
{
	(void)shop, (void)value;
	text_copy(context, DUE_KEY_MAX, key);
	return false;
}

static bool first_due(const struct state *state, char ret_key[DUE_KEY_MAX])
{
	struct head head = head_of(state);

	ret_key[0] = '\0';
	STATE_EACH_FROM(state, due, ALL_SHOPS, head.key, first_key, ret_key);
	return ret_key[0] != '\0';
}

/* Counts a removed row, and sometimes moves the head, so that removed rows are not walked over for ever. */
static void count_removed(struct state *state, const char *key)
{
	struct head head = head_of(state);

	if (++head.removed >= REMOVED_MOST) {
		head.removed = 0;
		if (!first_due(state, head.key))
			TEXT_COPY(head.key, key);
	}
	put_head(state, &head);
}

static void add_due(struct state *state, const struct message_meta *said, const char *key)
{
	struct head head = head_of(state);

	if (said->seq > 0 && strcmp(key, head.key) < 0) {
		TEXT_COPY(head.key, key);
		put_head(state, &head);
	}
	STATE_PUT_STRING(state, due, ALL_SHOPS, key, BYTES("", 0));
}

static void forget(struct state *state, const struct message_meta *said, const char *name, int64_t due_us)
{
	char key[DUE_KEY_MAX];

	if (STATE_HAS(state, again, said->shop, name)) /* only while the timer itself is there */
		STATE_DELETE(state, again, said->shop, name);
	due_key(key, due_us, said->shop, name);
	STATE_DELETE(state, due, ALL_SHOPS, key);
	STATE_DELETE(state, timers, said->shop, name);
	if (said->seq > 0)
		count_removed(state, key);
}

/* Is a newer version of this timer known? */
static bool is_older(const struct state *state, const char *shop, const char *name, uint64_t version)
{
	return STATE_NUMBER(state, version, shop, name) > version;
}

/*
 * The timer that already has this name belongs to all services that may set such a timer; if its topic is
 * unknown, to the service that set it.
 */
static bool may_replace(const struct message_meta *said, const TimerSet *before)
{
	if (rights_topic(before->topic))
		return rights_allow(said->said_by, before->topic);
	return rights_is_timer(said->said_by) || !*before->said_by || strcmp(before->said_by, said->said_by) == 0;
}

/* A topic that no system registered is judged at the firing: an update of this program may bring it. */
static bool may_fire(const struct message_meta *said, const char *topic)
{
	return !rights_topic(topic) || rights_allow(said->said_by, topic);
}

static bool next_of_cron(const TimerSet *set, int64_t after_us, int64_t *ret_us)
{
	struct cron *cron = NULL;
	char why[160];
	int r = cron_parse(set->cron, &cron, why);

	if (r < 0)
		return false;
	r = cron_next(cron, set->zone, after_us, ret_us);
	cron_free(cron);
	return r == 0;
}

void timers_remember_set(struct state *state, const struct message_meta *said, const TimerSet *set)
{
	char key[DUE_KEY_MAX];
	TimerSet row = *set, before;
	bool replaces;

	if (is_older(state, said->shop, set->name, set->version))
		return;
	replaces = timers_get(state, said->shop, set->name, &before);
	if (!may_fire(said, set->topic) || (replaces && !may_replace(said, &before))) {
		refusals_note(state, said, may_fire(said, set->topic) ? before.topic : set->topic);
		return;
	}
	STATE_PUT_NUMBER(state, version, said->shop, set->name, set->version);
	if (replaces)
		forget(state, said, set->name, before.due_us);
	if (*set->cron && !next_of_cron(set, said->time_us, &row.due_us))
		return;
	if (!*set->cron) { /* the firings of a cron timer have no cause: each begins by itself */
		TEXT_COPY(row.trace, said->trace);
		row.cause = said->seq;
	}
	if (!rights_is_timer(said->said_by)) /* a timer that this service sets again keeps its first setter */
		TEXT_COPY(row.said_by, said->said_by);
	STATE_PUT(state, timers, said->shop, set->name, &row);
	add_due(state, said, due_key(key, row.due_us, said->shop, set->name));
}

void timers_remember_cancel(struct state *state, const struct message_meta *said, const TimerCancel *cancel)
{
	TimerSet before;
	bool is_set;

	if (is_older(state, said->shop, cancel->name, cancel->version))
		return;
	is_set = timers_get(state, said->shop, cancel->name, &before);
	if (is_set && !may_replace(said, &before)) {
		refusals_note(state, said, before.topic);
		return;
	}
	STATE_PUT_NUMBER(state, version, said->shop, cancel->name, cancel->version);
	if (is_set)
		forget(state, said, cancel->name, before.due_us);
}

/*
 * The timer was set again, with the same version, while this firing was on its way. The new timer stays. But
 * the tombstone came after it, so it must be published again, or a process that starts later would not know
 * of it.
 */
static bool was_replaced(const TimerSet *set, const TimerFired *fired)
{
	return set->version == fired->version && set->due_us != fired->due_us;
}

void timers_remember_fired(struct state *state, const struct message_meta *said, const TimerFired *fired)
{
	TimerSet set;

	if (is_older(state, said->shop, fired->name, fired->version))
		return;
	STATE_PUT_NUMBER(state, version, said->shop, fired->name, fired->version);
	if (!timers_get(state, said->shop, fired->name, &set))
		return;
	if (was_replaced(&set, fired))
		STATE_PUT_STRING(state, again, said->shop, fired->name, BYTES("", 0));
	else
		forget(state, said, fired->name, set.due_us);
}

bool timers_get(const struct state *state, const char *shop, const char *name, TimerSet *ret_set)
{
	return STATE_GET(state, timers, shop, name, ret_set);
}

uint64_t timers_version(const struct state *state, const char *shop, const char *name)
{
	return STATE_NUMBER(state, version, shop, name);
}

int64_t timers_next_due_us(const struct state *state)
{
	char key[DUE_KEY_MAX];
	uint64_t due_us;

	if (!first_due(state, key) || sscanf(key, "%16" SCNx64, &due_us) != 1)
		return INT64_MAX;
	return (int64_t)due_us;
}

struct gathering {
	struct timer_due *to;
	int most, count;
	int64_t until_us;
};

static bool gather(const char *all, const char *key, struct bytes value, void *context)
{
	struct gathering *gathering = context;
	struct timer_due *due = &gathering->to[gathering->count];
	const char *shop = key + 16, *between = strchr(shop, BETWEEN);
	uint64_t due_us;

	(void)all, (void)value;
	if (!between || sscanf(key, "%16" SCNx64, &due_us) != 1 || (int64_t)due_us > gathering->until_us)
		return false;
	due->due_us = (int64_t)due_us;
	text_copy_bytes(due->shop, sizeof(due->shop), BYTES(shop, (size_t)(between - shop)));
	TEXT_COPY(due->name, between + 1);
	return ++gathering->count < gathering->most;
}

int timers_due(const struct state *state, int64_t from_us, int64_t until_us, struct timer_due *ret, int most)
{
	struct gathering gathering = { .to = ret, .most = most, .until_us = until_us };
	struct head head = head_of(state);
	char from[DUE_KEY_MAX];

	due_key(from, from_us, "", "");

	STATE_EACH_FROM(state, due, ALL_SHOPS, strcmp(from, head.key) > 0 ? from : head.key, gather, &gathering);
	return gathering.count;
}

static bool first_again(const char *shop, const char *key, void *context)
{
	struct timer_due *again = context;

	TEXT_COPY(again->shop, shop);
	TEXT_COPY(again->name, key);
	return false;
}

bool timers_again(const struct state *state, struct timer_due *ret)
{
	*ret->name = '\0';
	STATE_EACH_KEY(state, again, NULL, NULL, first_again, ret);
	return *ret->name != '\0';
}
