/*
 * health.c: tells whether all is well, and if not, why: `cartbus status` and `cartbus queues`
 *
 * Owns:     what makes it red: what the broker knows (services/kit/words/status_red.c), and a raised alarm that nobody has seen.
 * Promises: who looks again reads on in the log from where the last look ended; another log is read from its beginning. Red is exit 1, so a
 *           script needs no parsing.
 * Read next: alarms.c, mode.c
 */
#include "services/cartbus/watch/health.h"

#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/kit/words/status_red.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_red(struct health *health, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say_red(struct health *health, const char *format, ...)
{
	char words[600];
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	json_array_append_new(health->red, json_string(words));
}

static void judge_alarms(struct health *health)
{
	for (int i = 0; i < health->alarms.count; i++) {
		const struct standing *one = &health->alarms.each[i];
		const Alarm *alarm = &one->alarm;

		if (!alarm->acknowledged_by[0])
			say_red(health, "%s%s%s: %s%s%s", alarm->kind, one->shop[0] ? " of shop " : "", one->shop,
				alarm->text, alarm->remedy[0] ? "; " : "", alarm->remedy);
	}
}

/* A stop is wanted, so it is not red; but the admin may have forgotten it. */
static void note_stops(struct health *health)
{
	for (int i = 0; i < health->modes.count; i++) {
		const ShopStatus *status = &health->modes.each[i].status;
		bool all = strcmp(health->modes.each[i].shop, SHOP_OF_ALL) == 0;

		if (status->mode == MODE_PAUSED)
			json_array_append_new(health->stopped,
				json_sprintf("%s: stopped by %s: %s", all ? "all shops" : health->modes.each[i].shop,
					status->who, status->reason[0] ? status->reason : "no reason given"));
	}
}

/* What the broker doubts of the clock; "" when there is nothing to say, or what there is makes it red. */
static const char *health_clock_note(const struct health *health)
{
	const json_t *clock = json_object_get(health->status, "clock");

	return member_number(clock, "jump_us") == 0 ? member_text(clock, "why") : "";
}

static void judge(struct health *health)
{
	status_judge(health->status, health->red);
	judge_alarms(health);
	note_stops(health);
}

/* ---- a look ---- */

static bool fold(const struct entry *entry, void *context)
{
	struct health *health = context;

	if (entry->seq > health->read_to)
		health->read_to = entry->seq;
	if (strcmp(entry->topic, topic_shop_status.name) == 0)
		modes_fold(&health->modes, entry);
	else
		alarms_fold(&health->alarms, entry);
	return true;
}

/* What was there when it answered, at least; what came since is read as well. */
static int read_on(const struct command *command, struct client *client, struct health *health)
{
	static const char *const topics[] = { "alarm", "alarm.told", "shop.status", NULL };
	uint64_t head = (uint64_t)member_number(health->status, "head");
	struct reading_filter filter = { .from = health->read_to + 1, .topics = topics, .masked = true };
	int ended = EXIT_FINE;

	if (head > health->read_to)
		ended = reading_each(command, client, &filter, fold, health);
	if (ended == EXIT_FINE && head > health->read_to)
		health->read_to = head;
	return ended;
}

/* Nothing that was read from the other log is true of this log. */
static void notice_another_log(struct health *health)
{
	const char *log = member_text(health->status, "log");

	if (strcmp(health->log, log) == 0 && (uint64_t)member_number(health->status, "head") >= health->read_to)
		return;
	TEXT_COPY(health->log, log);
	health->read_to = 0;
	health->alarms.count = 0;
	health->modes.count = 0;
}

static void forget_look(struct health *health)
{
	json_decref(health->status);
	json_decref(health->red);
	json_decref(health->stopped);
	health->status = health->red = health->stopped = NULL;
}

int health_look(const struct command *command, struct client *client, struct health *health)
{
	json_t *status = command_look(command, client, "status", NULL);
	int ended;

	if (!status)
		return EXIT_NO;
	forget_look(health);
	health->status = status;
	notice_another_log(health);
	ended = read_on(command, client, health);
	health->red = json_array();
	health->stopped = json_array();
	judge(health);
	return ended;
}

struct health *health_new(void)
{
	return memory_new(sizeof(struct health));
}

void health_free(struct health *health)
{
	if (!health)
		return;
	forget_look(health);
	free(health);
}

/* ---- `cartbus status` and `cartbus queues` ---- */

static void print_seen_alarms(const struct alarms *alarms)
{
	for (int i = 0; i < alarms->count; i++) {
		const struct standing *one = &alarms->each[i];

		if (one->alarm.acknowledged_by[0])
			printf("  note: %s%s%s stands; %s has seen it\n", one->alarm.kind,
				one->shop[0] ? " of shop " : "", one->shop, one->alarm.acknowledged_by);
	}
}

static void print_queues(const json_t *queues)
{
	const json_t *queue;
	size_t i;

	printf("%-12s %8s %8s %8s %8s %9s\n", "queue", "ready", "leased", "delayed", "dead", "failures");
	json_array_foreach(queues, i, queue) printf("%-12s %8lld %8lld %8lld %8lld %9lld%s\n",
		member_text(queue, "name"), member_number(queue, "ready"), member_number(queue, "leased"),
		member_number(queue, "delayed"), member_number(queue, "dead"), member_number(queue, "failures"),
		member_number(queue, "paused_us") > 0 ? "  paused" : "");
}

static bool is_command(const json_t *session)
{
	return strcmp(member_text(session, "service"), "cartbus") == 0;
}

/* Does any process run on another host than the broker? */
static bool has_hosts(const json_t *status)
{
	const char *host;
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		host = member_text(session, "host");
		if (!is_command(session) && *host && strcmp(host, member_text(status, "host")) != 0)
			return true;
	}
	return false;
}

static void print_sessions(const json_t *status)
{
	bool hosts = has_hosts(status);
	const json_t *session;
	size_t i;

	printf("%-16s %-8s %10s %8s %9s%s\n", "process", "", "cursor", "lag", "in flight", hosts ? "  host" : "");
	if (hosts)
		printf("%-16s %-8s %10lld %8s %9s  %s\n", "broker", "active", member_number(status, "head"), "", "",
			member_text(status, "host"));
	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (is_command(session))
			continue;
		printf("%-16s %-8s %10lld %8lld %9lld%s%s\n", member_text(session, "instance"),
			json_is_true(json_object_get(session, "active")) ? "active" : "standby",
			member_number(session, "cursor"), member_number(session, "lag"),
			member_number(session, "in_flight"), hosts ? "  " : "",
			hosts ? member_text(session, "host") : "");
	}
}

static void print_health(const struct health *health)
{
	const json_t *why;
	size_t i;

	puts(json_array_size(health->red) ? "RED" : "GREEN");
	json_array_foreach(health->red, i, why) printf("  %s\n", json_string_value(why));
	json_array_foreach(health->stopped, i, why) printf("  note: %s\n", json_string_value(why));
	if (health_clock_note(health)[0])
		printf("  note: %s\n", health_clock_note(health));
	print_seen_alarms(&health->alarms);
	printf("\nthe log holds %lld messages; the broker has been up for %lld s; %lld claims wait for a gateway\n\n",
		member_number(health->status, "head"), member_number(health->status, "uptime_us") / 1000000,
		member_number(health->status, "parked_claims"));
	print_reach(json_object_get(health->status, "kept"), "UTC");
	print_sessions(health->status);
	putchar('\n');
	print_queues(json_object_get(health->status, "queues"));
}

int status_red(const struct command *command, struct client *client, json_t **ret_red, char ret_clock[256])
{
	struct health *health = health_new();
	int ended = health_look(command, client, health);

	*ret_red = health->red ? json_incref(health->red) : NULL;
	snprintf(ret_clock, 256, "%s", health_clock_note(health));
	health_free(health);
	return ended;
}

static void print_json(const struct health *health)
{
	json_object_set(health->status, "stopped", health->stopped);
	json_object_set(health->status, "red", health->red);
	json_object_set_new(health->status, "alarms", alarms_json(&health->alarms));
	json_print(health->status);
}

int command_status(struct command *command, int argc, char **argv)
{
	struct health *health;
	struct client *client;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Says whether all is well, and if not, why and what to do. It exits with 0 when green, "
				"1 when red, 3 when the broker cannot be reached.\v"
				"Example:\n  cartbus status || mail -s 'cartbus is red' admin@example.com" });
	client = command_connect(command);
	health = health_new();
	ended = health_look(command, client, health);
	client_free(client);
	if (health->status && command->json)
		print_json(health);
	else if (health->status)
		print_health(health);
	ended = ended ? ended : json_array_size(health->red) ? EXIT_NO : EXIT_FINE;
	health_free(health);
	return ended;
}

int command_queues(struct command *command, int argc, char **argv)
{
	struct client *client;
	json_t *answer;

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Shows for each service what waits to be decided, what is being decided, what is delayed "
				"and what is dead. A queue is paused while every message that its service is given "
				"fails: then one message at a time is tried, at growing intervals up to a "
				"minute, nothing that fails counts against a message, and the first that "
				"works ends it.\vExample:\n  cartbus queues --json" });
	client = command_connect(command);
	answer = command_look(command, client, "queues", NULL);
	client_free(client);
	if (!answer)
		return EXIT_NO;
	if (command->json) {
		json_print(answer);
	} else {
		print_queues(json_object_get(answer, "queues"));
	}
	json_decref(answer);
	return EXIT_FINE;
}
