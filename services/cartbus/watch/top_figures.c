/*
 * top_figures.c: of the looks of the last minute, what is to be shown: what changed between two looks, as numbers that people read
 *
 * Promises:  pure but for the looks that it holds. Rates are those of the last five seconds, since processes tell what they count every two;
 *            durations those of the last minute, so that there are enough of them. A process that was started anew, or whose counts a new
 *            broker has not heard yet, is not taken for one that did nothing or everything at once: only looks count that have its
 *            counts, of the same run.
 * Read next: top_draw.c (the same as a picture), bus/actor/runtime/metrics.c (what processes count)
 */
#include "services/cartbus/watch/top_figures.h"

#include "bus/base/clock.h"
#include "services/cartbus/core/json_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what changed between two looks ---- */

#define KEPT_FOR_US US_PER_MINUTE

static void drop_first(struct looks *looks)
{
	json_decref(looks->each[0].status);
	memmove(looks->each, looks->each + 1, (size_t)(--looks->count) * sizeof(looks->each[0]));
}

void looks_add(struct looks *looks, json_t *status, int64_t at_us)
{
	while (looks->count == LOOKS_MAX || (looks->count > 1 && looks->each[0].at_us < at_us - KEPT_FOR_US))
		drop_first(looks);
	looks->each[looks->count++] = (struct look){ .status = json_incref(status), .at_us = at_us };
}

void looks_forget(struct looks *looks)
{
	while (looks->count > 0)
		drop_first(looks);
}

double looks_messages_s(const struct looks *looks, int at)
{
	const struct look *now, *before;
	double grown;

	if (at < 1 || at >= looks->count)
		return -1;
	now = &looks->each[at];
	before = now - 1;
	grown = json_number_value(json_object_get(now->status, "head")) -
		json_number_value(json_object_get(before->status, "head"));
	if (grown < 0 || now->at_us <= before->at_us ||
		strcmp(member_text(now->status, "log"), member_text(before->status, "log")) != 0)
		return -1;
	return grown * US_PER_S / (double)(now->at_us - before->at_us);
}

static const json_t *find_run(const json_t *status, const char *run)
{
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (strcmp(member_text(session, "run"), run) == 0)
			return session;
	}
	return NULL;
}

static double count_of(const json_t *session, const char *name)
{
	return json_number_value(json_object_get(json_object_get(session, "counts"), name));
}

static struct counted looks_counted(
	const struct looks *looks, const json_t *session, const char *name, int64_t within_us)
{
	const struct look *now = &looks->each[looks->count - 1];

	for (int i = 0; i < looks->count - 1; i++) {
		const struct look *before = &looks->each[i];
		const json_t *was = find_run(before->status, member_text(session, "run"));
		double amount;

		if (before->at_us < now->at_us - within_us || !was ||
			json_object_size(json_object_get(was, "counts")) == 0)
			continue;
		amount = count_of(session, name) - count_of(was, name);
		if (amount >= 0)
			return (struct counted){ .amount = amount,
				.seconds = (double)(now->at_us - before->at_us) / US_PER_S };
	}
	return (struct counted){ 0 };
}

/* ---- short numbers ---- */

static const char *scaled(double number, double step, const char *const *units, char ret[HUMAN_FORMAT_ROOM])
{
	while (number >= step && units[1])
		number /= step, units++;
	snprintf(ret, HUMAN_FORMAT_ROOM, number < 99.95 ? "%.1f%s" : "%.0f%s", number, *units);
	return ret;
}

const char *human_format_count(double number, char ret[HUMAN_FORMAT_ROOM])
{
	static const char *const units[] = { "", "k", "M", "G", "T", NULL };

	if (number >= 10000)
		return scaled(number, 1000, units, ret);
	snprintf(ret, HUMAN_FORMAT_ROOM, "%.0f", number);
	return ret;
}

const char *human_format_rate(double per_second, char ret[HUMAN_FORMAT_ROOM])
{
	if (per_second < 0)
		snprintf(ret, HUMAN_FORMAT_ROOM, "-");
	else if (per_second > 0 && per_second < 9.95)
		snprintf(ret, HUMAN_FORMAT_ROOM, "%.1f", per_second < 0.05 ? 0.1 : per_second);
	else
		human_format_count(per_second, ret);
	return ret;
}

const char *human_format_bytes(double bytes, char ret[HUMAN_FORMAT_ROOM])
{
	static const char *const units[] = { "B", "K", "M", "G", "T", NULL };

	return scaled(bytes, 1024, units, ret);
}

const char *human_format_age(int64_t us, char ret[HUMAN_FORMAT_ROOM])
{
	static const struct {
		int64_t from_us, unit_us;
		const char *name;
	} units[] = { { 2 * US_PER_DAY, US_PER_DAY, "d" }, { 2 * US_PER_HOUR, US_PER_HOUR, "h" },
		{ 2 * US_PER_MINUTE, US_PER_MINUTE, "min" }, { INT64_MIN, US_PER_S, "s" } };
	int i = 0;

	while (us < units[i].from_us)
		i++;
	snprintf(ret, HUMAN_FORMAT_ROOM, "%lld%s", us > 0 ? (long long)(us / units[i].unit_us) : 0, units[i].name);
	return ret;
}

/* ---- the figures ---- */

#define RATES_OF_US (5 * US_PER_S)
#define DURATIONS_OF_US US_PER_MINUTE
#define SLOW_SHARE 0.99

const char *const top_order_names[TOP_ORDERS] = { [TOP_BY_TURNS] = "turns",
	[TOP_BY_NAME] = "name",
	[TOP_BY_ERRORS] = "errors",
	[TOP_BY_LAG] = "lag",
	[TOP_BY_MEMORY] = "memory" };

static double number_of(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static double told(const json_t *session, const char *name)
{
	return number_of(json_object_get(session, "counts"), name);
}

/* ---- processes ---- */

static double rate(const struct looks *looks, const json_t *session, const char *name)
{
	struct counted counted = looks_counted(looks, session, name, RATES_OF_US);

	return counted.seconds > 0 ? counted.amount / counted.seconds : -1;
}

/* The processes tell a histogram of few bounds: the one below which 99 of 100 lie is all that it knows. */
static double slowest_us(const struct looks *looks, const json_t *session)
{
	static const struct {
		const char *name;
		double us;
	} bounds[] = { { "deciding_us_1000", 1e3 }, { "deciding_us_10000", 1e4 }, { "deciding_us_100000", 1e5 },
		{ "deciding_us_1000000", 1e6 }, { "deciding_us_10000000", 1e7 } };
	double all = looks_counted(looks, session, "deciding_count", DURATIONS_OF_US).amount;

	if (all <= 0)
		return 0;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if (looks_counted(looks, session, bounds[i].name, DURATIONS_OF_US).amount >= SLOW_SHARE * all)
			return bounds[i].us;
	}
	return INFINITY;
}

/* What is told by the kind of who throttled, together. */
static double throttles(const json_t *session)
{
	static const char prefix[] = "throttled_";
	const char *name;
	json_t *value;
	double sum = 0;

	json_object_foreach(json_object_get(session, "counts"), name, value)
	{
		if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
			sum += json_number_value(value);
	}
	return sum;
}

static struct top_process process_of(const struct looks *looks, const json_t *session)
{
	return (struct top_process){ .service = member_text(session, "service"),
		.instance = member_text(session, "instance"),
		.host = member_text(session, "host"),
		.turns_s = rate(looks, session, "turns"),
		.effects_s = rate(looks, session, "effects"),
		.p99_us = slowest_us(looks, session),
		.in_flight = number_of(session, "in_flight"),
		.failures = told(session, "failures"),
		.timeouts = told(session, "effect_timeouts"),
		.throttles = throttles(session),
		.lag = number_of(session, "lag"),
		.memory_bytes = told(session, "memory_bytes") };
}

static double weight(const struct top_process *process, enum top_order order)
{
	switch (order) {
	case TOP_BY_TURNS:
		return process->turns_s;
	case TOP_BY_ERRORS:
		return process->failures + process->timeouts + process->throttles;
	case TOP_BY_LAG:
		return process->lag;
	case TOP_BY_MEMORY:
		return process->memory_bytes;
	case TOP_BY_NAME:
	case TOP_ORDERS:
		break;
	}
	return 0;
}

static int compare(const void *left, const void *right, void *order)
{
	double a = weight(left, *(enum top_order *)order), b = weight(right, *(enum top_order *)order);

	if (a > b || a < b)
		return a > b ? -1 : 1;
	return strcmp(((const struct top_process *)left)->instance, ((const struct top_process *)right)->instance);
}

static void count_processes(const json_t *status, enum top_order order, struct top_figures *ret)
{
	json_t *session;
	size_t i;

	ret->webhooks_s = -1;
	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		double webhooks_s = -1;

		if (strcmp(member_text(session, "service"), "cartbus") == 0) /* who only asks */
			continue;
		if (strcmp(member_text(session, "service"), "gateway") == 0)
			webhooks_s = rate(ret->looks, session, "requests");
		if (webhooks_s >= 0)
			ret->webhooks_s = webhooks_s + (ret->webhooks_s > 0 ? ret->webhooks_s : 0);
		if (ret->process_count < TOP_PROCESSES_MAX)
			ret->processes[ret->process_count++] = process_of(ret->looks, session);
	}
	qsort_r(ret->processes, (size_t)ret->process_count, sizeof(ret->processes[0]), compare, &order);
}

/* ---- the rest ---- */

static struct top_queue queue_of(const json_t *queue, int64_t wall_us)
{
	int64_t oldest_us = json_integer_value(json_object_get(queue, "oldest_us"));

	return (struct top_queue){ .name = member_text(queue, "name"),
		.outage = member_text(queue, "outage"),
		.ready = number_of(queue, "ready"),
		.leased = number_of(queue, "leased"),
		.delayed = number_of(queue, "delayed"),
		.unread = number_of(queue, "unread"),
		.failures = number_of(queue, "failures"),
		.dead = number_of(queue, "dead"),
		.oldest_us = oldest_us > 0 && wall_us > oldest_us ? wall_us - oldest_us : oldest_us > 0,
		.is_paused = number_of(queue, "paused_us") > 0 };
}

static void count_queues(const json_t *status, struct top_figures *ret)
{
	json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(status, "queues"), i, queue)
	{
		ret->dead += number_of(queue, "dead");
		if (ret->queue_count < TOP_QUEUES_MAX)
			ret->queues[ret->queue_count++] = queue_of(queue, ret->wall_us);
	}
}

static void count_totals(const json_t *status, struct top_figures *ret)
{
	const json_t *monitor = NULL, *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (strcmp(member_text(session, "service"), "monitor") == 0 &&
			json_object_size(json_object_get(session, "counts")) > 0)
			monitor = session;
	}
	ret->mails_day = monitor ? told(monitor, "mails_day") : -1;
	ret->mails_hour = monitor ? told(monitor, "mails_hour") : -1;
	ret->mails_failed_day = monitor ? told(monitor, "mails_failed_day") : -1;
	ret->recovered_day = monitor ? told(monitor, "recovered_day") : -1;
	ret->timers_pending = monitor ? told(monitor, "timers_pending") : -1;
	ret->next_cart_us = (int64_t)told(monitor, "next_cart_us");
}

void top_figures_of(
	const struct health *health, const struct looks *looks, enum top_order order, struct top_figures *ret)
{
	const json_t *status = looks->each[looks->count - 1].status;

	*ret = (struct top_figures){ .health = health, .looks = looks };
	ret->is_red = json_array_size(health->red) > 0;
	ret->alarms = health->alarms.count;
	ret->wall_us = json_integer_value(json_object_get(status, "wall_us"));
	ret->messages_s = looks_messages_s(looks, looks->count - 1);
	ret->head = number_of(status, "head");
	ret->uptime_us = number_of(status, "uptime_us");
	ret->disk_free_bytes = number_of(json_object_get(status, "disk"), "free_bytes");
	ret->parked_claims = number_of(status, "parked_claims");
	count_queues(status, ret);
	count_processes(status, order, ret);
	count_totals(status, ret);
}

/* ---- as JSON ---- */

/* A number that is not known becomes null. */
static json_t *known(double number)
{
	return number < 0 ? json_null() : json_real(number);
}

static json_t *whole(double number)
{
	return number < 0 ? json_null() : json_integer((json_int_t)number);
}

static json_t *queues_json(const struct top_figures *figures)
{
	json_t *array = json_array();

	for (int i = 0; i < figures->queue_count; i++) {
		const struct top_queue *one = &figures->queues[i];

		json_array_append_new(array,
			json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:b,s:s}", "name", one->name, "ready",
				whole(one->ready), "leased", whole(one->leased), "delayed", whole(one->delayed),
				"unread", whole(one->unread), "failures", whole(one->failures), "dead",
				whole(one->dead), "oldest_age_us", (json_int_t)one->oldest_us, "paused",
				(int)one->is_paused, "outage", one->outage));
	}
	return array;
}

static json_t *processes_json(const struct top_figures *figures)
{
	json_t *array = json_array();

	for (int i = 0; i < figures->process_count; i++) {
		const struct top_process *one = &figures->processes[i];

		json_array_append_new(array,
			json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "service", one->service,
				"instance", one->instance, "host", one->host, "turns_per_s", known(one->turns_s),
				"effects_per_s", known(one->effects_s), "decision_p99_at_most_us",
				isinf(one->p99_us) ? json_null() : whole(one->p99_us), "in_flight",
				whole(one->in_flight), "failures", whole(one->failures), "timeouts",
				whole(one->timeouts), "throttles", whole(one->throttles), "lag", whole(one->lag),
				"memory_bytes", one->memory_bytes > 0 ? whole(one->memory_bytes) : json_null()));
	}
	return array;
}

static json_t *mails_json(const struct top_figures *figures)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "last_24_h", whole(figures->mails_day), "this_hour",
		whole(figures->mails_hour), "failed_last_24_h", whole(figures->mails_failed_day),
		"carts_recovered_last_24_h", whole(figures->recovered_day), "next_cart_us",
		figures->next_cart_us ? json_integer((json_int_t)figures->next_cart_us) : json_null());
}

json_t *top_figures_json(const struct top_figures *figures)
{
	return json_pack("{s:s,s:b,s:O,s:O,s:I,s:o,s:o,s:o,s:o,s:o,s:i,s:o,s:o,s:o,s:o,s:o}", "broker", "up", "red",
		(int)figures->is_red, "why", figures->health->red, "stopped", figures->health->stopped, "at_us",
		(json_int_t)figures->wall_us, "head", whole(figures->head), "messages_per_s",
		known(figures->messages_s), "webhooks_per_s", known(figures->webhooks_s), "uptime_us",
		whole(figures->uptime_us), "disk_free_bytes", whole(figures->disk_free_bytes), "alarms",
		figures->alarms, "dead_letters", whole(figures->dead), "parked_claims", whole(figures->parked_claims),
		"mails", mails_json(figures), "queues", queues_json(figures), "processes", processes_json(figures));
}
