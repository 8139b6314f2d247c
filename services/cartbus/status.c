/*
 * status.c: `cartbus status` and `cartbus queues`: is all well?
 *
 * Owns:     what makes it red: a disk that fills up, a clock that jumped, dead letters, a paused queue, a service without an active instance, a
 *           gateway that is away, claims that wait for
 *           one, a raised alarm.
 * Promises: red is exit 1, so a script needs no parsing.
 */
#include "services/cartbus/alarms.h"
#include "services/cartbus/mode.h"
#include "services/cartbus/print.h"
#include "services/cartbus/reading.h"

#include "services/cartbus/status.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every service that an installation needs to do its job. */
static const char *const needed[] = { "gateway", "intake", "timer", "waiter", "sender", "unsub", "mailin", "exporter",
	"summarizer", "mirror", "monitor" };

struct health {
	const json_t *status;
	json_t *red; /* array of words */
	struct alarms alarms;
	json_t *stopped; /* array of words: what stands still because somebody wants it so */
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static long long number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

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

static bool has_active(const json_t *sessions, const char *service)
{
	const json_t *session;
	size_t i;

	json_array_foreach(sessions, i, session)
	{
		if (strcmp(text_of(session, "service"), service) == 0 &&
			json_is_true(json_object_get(session, "active")))
			return true;
	}
	return false;
}

static void judge_services(struct health *health)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!has_active(json_object_get(health->status, "sessions"), needed[i]))
			say_red(health, "no %s is running: its work waits", needed[i]);
	}
}

static void judge_disk(struct health *health)
{
	const json_t *disk = json_object_get(health->status, "disk");

	if (json_is_true(json_object_get(disk, "short")))
		say_red(health, "the broker takes nothing new: %s", text_of(disk, "why"));
}

static void judge_clock(struct health *health)
{
	const json_t *clock = json_object_get(health->status, "clock");

	if (number_of(clock, "jump_us") != 0)
		say_red(health, "%s", text_of(clock, "why"));
}

static void judge_queues(struct health *health)
{
	const json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(health->status, "queues"), i, queue)
	{
		if (number_of(queue, "dead") > 0)
			say_red(health, "%s has %lld dead letters: cartbus dlq list --queue %s", text_of(queue, "name"),
				number_of(queue, "dead"), text_of(queue, "name"));
		if (number_of(queue, "paused_us") > 0)
			say_red(health,
				"%s is paused, everything failed: %s; one message at a time is tried until one works",
				text_of(queue, "name"), text_of(queue, "outage"));
	}
}

static void judge_gateways(struct health *health)
{
	const json_t *gateway;
	size_t i;

	json_array_foreach(json_object_get(health->status, "gateways"), i, gateway)
	{
		if (!json_is_true(json_object_get(gateway, "alive")))
			say_red(health, "gateway %s is away: no mail is claimed until it is back (or struck off)",
				text_of(gateway, "name"));
	}
}

static void judge_claims(struct health *health)
{
	if (json_is_true(json_object_get(health->status, "claims_held")))
		say_red(health, "the log was restored, and no mail is sent: cartbus restore --release");
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

static void print_seen_alarms(const struct alarms *alarms)
{
	for (int i = 0; i < alarms->count; i++) {
		const struct standing *one = &alarms->each[i];

		if (one->alarm.acknowledged_by[0])
			printf("  note: %s%s%s stands; %s has seen it\n", one->alarm.kind,
				one->shop[0] ? " of shop " : "", one->shop, one->alarm.acknowledged_by);
	}
}

/* Wanted, so not red; but somebody may have forgotten it. */
static void note_stops(const struct command *command, struct client *client, struct health *health)
{
	static struct modes modes;

	health->stopped = json_array();
	if (modes_load_from(command, client, &modes))
		return;
	for (int i = 0; i < modes.count; i++) {
		const ShopStatus *status = &modes.each[i].status;
		bool all = strcmp(modes.each[i].shop, SHOP_OF_ALL) == 0;

		if (status->mode == MODE_PAUSED)
			json_array_append_new(health->stopped,
				json_sprintf("%s: stopped by %s: %s", all ? "all shops" : modes.each[i].shop,
					status->who, status->reason[0] ? status->reason : "no reason given"));
	}
}

static void print_queues(const json_t *queues)
{
	const json_t *queue;
	size_t i;

	printf("%-12s %8s %8s %8s %8s %9s\n", "queue", "ready", "leased", "delayed", "dead", "failures");
	json_array_foreach(queues, i, queue)
		printf("%-12s %8lld %8lld %8lld %8lld %9lld%s\n", text_of(queue, "name"), number_of(queue, "ready"),
			number_of(queue, "leased"), number_of(queue, "delayed"), number_of(queue, "dead"),
			number_of(queue, "failures"), number_of(queue, "paused_us") > 0 ? "  paused" : "");
}

static void print_sessions(const json_t *sessions)
{
	const json_t *session;
	size_t i;

	printf("%-16s %-8s %10s %8s %9s\n", "process", "", "cursor", "lag", "in flight");
	json_array_foreach(sessions, i, session)
	{
		if (strcmp(text_of(session, "service"), "cartbus") == 0)
			continue;
		printf("%-16s %-8s %10lld %8lld %9lld\n", text_of(session, "instance"),
			json_is_true(json_object_get(session, "active")) ? "active" : "standby",
			number_of(session, "cursor"), number_of(session, "lag"), number_of(session, "in_flight"));
	}
}

/* "" when there is nothing to say, or what there is makes it red. */
static const char *clock_note(const struct health *health)
{
	const json_t *clock = json_object_get(health->status, "clock");

	return number_of(clock, "jump_us") == 0 ? text_of(clock, "why") : "";
}

static void print_health(const struct health *health)
{
	const json_t *why;
	size_t i;

	puts(json_array_size(health->red) ? "RED" : "GREEN");
	json_array_foreach(health->red, i, why) printf("  %s\n", json_string_value(why));
	json_array_foreach(health->stopped, i, why) printf("  note: %s\n", json_string_value(why));
	if (clock_note(health)[0])
		printf("  note: %s\n", clock_note(health));
	print_seen_alarms(&health->alarms);
	printf("\nthe log holds %lld messages; the broker has been up for %lld s; %lld claims wait for a gateway\n\n",
		number_of(health->status, "head"), number_of(health->status, "uptime_us") / 1000000,
		number_of(health->status, "parked_claims"));
	print_reach(json_object_get(health->status, "kept"), "UTC");
	print_sessions(json_object_get(health->status, "sessions"));
	putchar('\n');
	print_queues(json_object_get(health->status, "queues"));
}

static int judge_all(const struct command *command, struct client *client, struct health *health)
{
	health->red = json_array();
	judge_services(health);
	judge_disk(health);
	judge_clock(health);
	judge_queues(health);
	judge_gateways(health);
	judge_claims(health);
	int ended = alarms_read(command, client, &health->alarms);
	judge_alarms(health);
	return ended;
}

int status_red(const struct command *command, struct client *client, json_t **ret_red, char ret_clock[256])
{
	json_t *status = command_ask(command, client, "status", NULL);
	struct health *health = memory_new(sizeof(*health));
	int ended = EXIT_NO;

	health->status = status;
	if (status)
		ended = judge_all(command, client, health);
	*ret_red = status ? health->red : NULL;
	snprintf(ret_clock, 256, "%s", clock_note(health));
	free(health);
	json_decref(status);
	return ended;
}

static int judge(const struct command *command, struct client *client, struct health *health)
{
	json_t *status = command_ask(command, client, "status", NULL);

	if (!status)
		return EXIT_NO;
	health->status = status;
	int ended = judge_all(command, client, health);
	note_stops(command, client, health);
	if (command->json) {
		json_object_set(status, "stopped", health->stopped);
		json_object_set(status, "red", health->red);
		json_object_set_new(status, "alarms", alarms_json(&health->alarms));
		json_print(status);
	} else {
		print_health(health);
	}
	ended = ended ? ended : json_array_size(health->red) ? EXIT_NO : EXIT_FINE;
	json_decref(health->red);
	json_decref(health->stopped);
	json_decref(status);
	return ended;
}

int command_status(struct command *command, int argc, char **argv)
{
	static struct health health;
	struct client *client;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Says whether all is well, and if not, why and what to do. It exits with 0 when green, "
				"1 "
				"when red, 3 when the broker cannot be reached.\v"
				"Example:\n  cartbus status || mail -s 'cartbus is red' admin@example.com" });
	client = command_connect(command);
	ended = judge(command, client, &health);
	client_free(client);
	return ended;
}

int command_queues(struct command *command, int argc, char **argv)
{
	struct client *client;
	json_t *answer;

	command_take(command, argc, argv,
		&(struct arguments){ .help = "Shows for each service what waits to be decided, what is being decided, "
					     "what is delayed "
					     "and what is dead. A queue is paused while whatever its service is given "
					     "fails: then one message at a time is tried, at growing intervals up to a "
					     "minute, nothing that fails counts against a message, and the first that "
					     "works ends it.\vExample:\n  cartbus queues --json" });
	client = command_connect(command);
	answer = command_ask(command, client, "queues", NULL);
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
