/*
 * refused.h: bad input, and connections that were turned away: counted, and told with the sender
 */
#ifndef BROKER_SESSION_REFUSED_H
#define BROKER_SESSION_REFUSED_H

#include "bus/broker/core.h"

/* The kinds of bad input. It is refused, counted, and shown by "status". */
enum refused {
	REFUSED_FRAME,   /* garbled, truncated, too big */
	REFUSED_EPOCH,   /* of no live session */
	REFUSED_NUMBER,  /* out of order */
	REFUSED_ITEM,    /* an item that makes no sense */
	REFUSED_MESSAGE, /* an envelope that does not add up */
	REFUSED_TOPIC,   /* unknown, or nobody hears it */
	REFUSED_RIGHT,   /* this peer may not say it */
	REFUSED_RECEIPT, /* stale */
	REFUSED_CONTROL, /* garbled control message */
	REFUSED_HELLO,
	REFUSED_QUESTION,
	REFUSED_ROOM,       /* the disk is filling up */
	REFUSED_CONNECTION, /* a connection to a socket, or a message that does not belong on that socket */
	REFUSED_COUNT
};

/* The senders of one kind of bad input that were logged in the current interval (refused.c). */
enum { SENDERS_TOLD = 8 };
struct telling {
	int64_t from_us;
	uint32_t lines;
	uint64_t senders[SENDERS_TOLD];
};

struct admission {
	struct broker_connections connections; /* as last noted */
	int64_t turned_away_us; /* when one was turned away last, log time; 0: none since the start ... */
	char turned_away[256];  /* ... whose, and why */
	uint64_t refused[REFUSED_COUNT];
	struct telling telling[REFUSED_COUNT];
};

/* Counts bad input and logs its sender and the reason, not too often. `who`: as the gate names it. `session` NULL: there is none. */
void refused(struct broker *broker, enum refused what, const char *who, const struct session *session,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
