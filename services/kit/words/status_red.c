/*
 * status_red.c: what in the broker's answer to "status" needs a person
 *
 * Owns:     the causes that the broker itself knows: a service that is missing, a disk that fills up, a clock that jumped, dead letters, a
 *           paused queue, a gateway that is away, claims that wait.
 */
#include "services/kit/words/status_red.h"
#include "bus/base/clock.h"
#include "services/kit/words/members.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t CLOCK_OFF_US = US_PER_MINUTE;

/* Every service that an installation needs to do its job. */
static const char *const needed[] = { "gateway", "intake", "timer", "waiter", "sender", "unsub", "mailin", "exporter",
	"summarizer", "mirror", "monitor" };

static void say_red(json_t *red, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say_red(json_t *red, const char *format, ...)
{
	char words[600];
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	json_array_append_new(red, json_string(words));
}

static bool has_active(const json_t *sessions, const char *service)
{
	const json_t *session;
	size_t i;

	json_array_foreach(sessions, i, session)
	{
		if (strcmp(member_text(session, "service"), service) == 0 &&
			json_is_true(json_object_get(session, "active")))
			return true;
	}
	return false;
}

static void judge_services(const json_t *status, json_t *red)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!has_active(json_object_get(status, "sessions"), needed[i]))
			say_red(red, "no %s is running: its work waits", needed[i]);
	}
}

static void judge_disk(const json_t *status, json_t *red)
{
	const json_t *disk = json_object_get(status, "disk");

	if (json_is_true(json_object_get(disk, "short")))
		say_red(red, "the broker takes nothing new: %s", member_text(disk, "why"));
}

static void judge_clock(const json_t *status, json_t *red)
{
	const json_t *clock = json_object_get(status, "clock");

	const json_t *session;
	size_t i;

	if (member_number(clock, "jump_us") != 0) {
		say_red(red, "%s", member_text(clock, "why"));
		return;
	}
	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		long long off_us = member_number(session, "clock_off_us");

		if (llabs(off_us) >= CLOCK_OFF_US)
			say_red(red, "the clock of %s on %s is %lld s %s the log's: set it right (timedatectl)",
				member_text(session, "instance"), member_text(session, "host"),
				llabs(off_us) / US_PER_S, off_us > 0 ? "ahead of" : "behind");
	}
}

static void judge_queues(const json_t *status, json_t *red)
{
	const json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(status, "queues"), i, queue)
	{
		if (member_number(queue, "dead") > 0)
			say_red(red, "%s has %lld dead letters: cartbus dlq list --queue %s",
				member_text(queue, "name"), member_number(queue, "dead"), member_text(queue, "name"));
		if (member_number(queue, "paused_us") > 0)
			say_red(red,
				"%s is paused, everything failed: %s; one message at a time is tried until one works",
				member_text(queue, "name"), member_text(queue, "outage"));
	}
}

static void judge_gateways(const json_t *status, json_t *red)
{
	const json_t *gateway;
	size_t i;

	json_array_foreach(json_object_get(status, "gateways"), i, gateway)
	{
		if (!json_is_true(json_object_get(gateway, "alive")))
			say_red(red, "gateway %s is away: no mail is claimed until it is back (or struck off)",
				member_text(gateway, "name"));
	}
}

static void judge_claims(const json_t *status, json_t *red)
{
	if (json_is_true(json_object_get(status, "claims_held")))
		say_red(red, "the log was restored, and no mail is sent: cartbus restore --release");
}

void status_judge(const json_t *status, json_t *red)
{
	judge_services(status, red);
	judge_disk(status, red);
	judge_clock(status, red);
	judge_queues(status, red);
	judge_gateways(status, red);
	judge_claims(status, red);
}
