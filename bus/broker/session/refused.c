/*
 * refused.c: counts refused input, and logs it with its sender
 *
 * Promises:  each refusal counts. The log gets a few lines of each kind every ten seconds, and never the same
 *            sender twice: a sender of endless garbage neither fills the journal nor hides the first refusal
 *            of another.
 * Fails by:  nothing.
 * Read next: refused.h (the kinds), answer_status.c (the counts)
 */
#include "bus/broker/session/refused.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "bus/broker/session/session.h"
#include <stdarg.h>
#include <stdio.h>

static const int64_t LINES_EVERY_US = 10 * US_PER_S;

static const struct {
	const char *what;
	enum log_level level; /* notice: this happens to good peers too, when their session ends */
} kinds[REFUSED_COUNT] = {
	[REFUSED_FRAME] = { "a frame", LOG_WARNING },
	[REFUSED_EPOCH] = { "a frame", LOG_NOTICE },
	[REFUSED_NUMBER] = { "a frame", LOG_NOTICE },
	[REFUSED_ITEM] = { "an item of a frame", LOG_WARNING },
	[REFUSED_MESSAGE] = { "a message", LOG_WARNING },
	[REFUSED_TOPIC] = { "a message", LOG_WARNING },
	[REFUSED_RIGHT] = { "a message", LOG_WARNING },
	[REFUSED_RECEIPT] = { "a receipt", LOG_NOTICE },
	[REFUSED_CONTROL] = { "a control message", LOG_WARNING },
	[REFUSED_HELLO] = { "a hello", LOG_WARNING },
	[REFUSED_QUESTION] = { "a question", LOG_NOTICE },
	[REFUSED_ROOM] = { "a message", LOG_NOTICE },
	[REFUSED_CONNECTION] = { "a connection", LOG_WARNING },
};

static bool may_tell(struct telling *telling, const char *sender, int64_t now_us)
{
	uint64_t hash = text_hash(bytes_of(sender));

	if (telling->lines == 0 || now_us - telling->from_us >= LINES_EVERY_US) {
		telling->from_us = now_us;
		telling->lines = 0;
	}
	for (uint32_t i = 0; i < telling->lines; i++)
		if (telling->senders[i] == hash)
			return false;
	if (telling->lines == SENDERS_TOLD)
		return false;
	telling->senders[telling->lines++] = hash;
	return true;
}

void refused(struct broker *broker, enum refused what, const char *who, const struct session *session,
	const char *format, ...)
{
	uint64_t count = ++broker->admission->refused[what];
	char sender[160], why[256];
	va_list arguments;

	snprintf(sender, sizeof(sender), "%.20s%s%s%s%s", who[0] ? who : "nobody known", session ? ", " : "",
		session ? broker->topology.peers[session->peer].name : "", session ? "/" : "",
		session ? session->instance : "");
	if (!may_tell(&broker->admission->telling[what], sender, broker_boot_us(broker)))
		return;
	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	log_event(kinds[what].level, "refused %s of %s, number %llu of its kind since the start: %s", kinds[what].what,
		sender, (unsigned long long)count, why);
}

void broker_refused_connection(struct broker *broker, const char *place, const char *who, const char *why)
{
	refused(broker, REFUSED_CONNECTION, who, NULL, "%s: %s", place, why);
}

void broker_turned_away(struct broker *broker, uint64_t count, const char *place, const char *who, const char *why)
{
	broker->admission->refused[REFUSED_CONNECTION] += count - 1;
	broker->admission->turned_away_us = broker_wall_us(broker);
	snprintf(broker->admission->turned_away, sizeof(broker->admission->turned_away), "%s, %s: %s", who, place, why);
	refused(broker, REFUSED_CONNECTION, who, NULL, "%s: %llu turned away: %s", place, (unsigned long long)count,
		why);
}

void broker_note_connections(struct broker *broker, const struct broker_connections *connections)
{
	broker->admission->connections = *connections;
}
