/* refused.h: counts bad input and refused connections, and logs their sender */
#ifndef BROKER_SESSION_REFUSED_H
#define BROKER_SESSION_REFUSED_H

#include "bus/broker/core.h"

/* The kinds of bad input. It is refused, counted, and shown by "status". */
enum refused {
	REFUSED_FRAME,   /* garbled, truncated, too big */
	REFUSED_EPOCH,   /* of a session that is not alive */
	REFUSED_NUMBER,  /* out of order */
	REFUSED_ITEM,    /* an invalid item */
	REFUSED_MESSAGE, /* a malformed envelope */
	REFUSED_TOPIC,   /* an unknown topic */
	REFUSED_RIGHT,   /* the peer lacks the right to publish it */
	REFUSED_RECEIPT, /* a stale receipt */
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
	struct broker_connections connections; /* as of the last broker_note_connections */
	int64_t turned_away_us; /* log time of the last refused connection; 0: none since the start ... */
	char turned_away[256];  /* ... whose it was, and why */
	uint64_t refused[REFUSED_COUNT];
	struct telling telling[REFUSED_COUNT];
};

/*
 * Counts bad input and logs its sender and the reason, at a limited rate. `who`: the sender's name at the
 * gate. `session` NULL: the sender has none.
 */
void refused(struct broker *broker, enum refused what, const char *who, const struct session *session,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
