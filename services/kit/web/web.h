/*
 * web.h: a small HTTP/1.1 server in a process's loop, safe against strangers
 *
 * The owner decides after the head of a request whether the server reads the body, and answers the whole
 * request, at once or later. Everything before that is limited here (bus/base/sources.h): connections, bytes
 * and work, per network and in all.
 *
 * - The server refuses a head, or chunks, that two servers could read differently (request.h, web_inside.h).
 * - Requests with small bodies are served first. Requests with large bodies share the budget of a network that has not proven itself,
 *   and wait while it is spent. When memory is short the server drops the oldest large body and answers its sender 503.
 * - The owner may take a body piece by piece instead (`streamed`), so that it may be large and memory stays flat. How many there are at
 *   once, and their bytes, are bounded by budgets of their own. A piece has to come within 5 s of the one before, all of them within 5
 *   minutes. In chunks such a body may have 32 KB, as every other.
 * - A request has to be complete within 5 s, or it is answered 408. An idle connection may stay for a while, and makes room first.
 * - A client that is refused while it still sends is answered, and the server reads on for a moment, so that the answer arrives.
 * - An answer may be a feed (`answer.feed`): it stays open, and the owner adds bytes to it with web_feed until it calls web_feed_end or
 *   the client goes away. Feeds have limits of their own, are not ended by the 5 s, and make room last. A client that says that it
 *   sends no more has gone away. A client that has not read for 30 s is cut; it takes 5 s more to see that.
 */
#ifndef KIT_WEB_WEB_H
#define KIT_WEB_WEB_H

#include "bus/actor/process.h"
#include "bus/base/sources.h"
#include "services/kit/web/network.h"
#include "services/kit/web/request.h"

struct web;

/* One request and its answer, as the owner sees them. Both live until `end`. */
struct web_request {
	struct request request;
	struct answer answer;
	size_t body_most; /* bytes; the server's own bound, which `begin` and `judge_head` may lower, and raise if the body is streamed */
	bool streamed; /* `begin` may set it: the body goes to take_piece, and request.body stays empty */
	/* the network that is charged for it, also behind a proxy; NULL: unknown */
	const struct source_key *client;
	void *own; /* for the owner; the server does not use it */
};

struct web_limits {
	struct source_limits sources; /* connections_all is the most connections */
	size_t head_most, body_most;
	/*
	 * The limits of streamed bodies: their number, and the bytes that their heads announce. If it allows
	 * no connections, no body is streamed. If there is no place for another body, one that comes slower than
	 * 16 KB a second is ended.
	 */
	struct source_limits streams;
	/* The most feeds of one network and in all, beside which the server answers 503; 0: there are none. */
	unsigned feeds_each, feeds_all;
	size_t feed_bytes; /* the most bytes that wait for the client of one feed, without those in the kernel */
};

/*
 * The functions of one request are called in this order. After `begin` there is always an `end`, also when the client goes away. NULL is
 * allowed for all but `judge_head` and `decide`, for `take_piece` if nothing is streamed, and for `refill`.
 */
struct web_owner {
	void (*begin)(void *context, struct web_request *asked); /* called for a head with valid framing */
	/* Judges the head. false: the answer is complete. true: the server reads the body. */
	bool (*judge_head)(void *context, struct web_request *asked);
	/* The next part of a body that is streamed. false: the answer is complete, and no more is read. */
	bool (*take_piece)(void *context, struct web_request *asked, struct bytes piece);
	/* Answers a whole request. true: the answer is complete. false: the owner calls web_answer later, from the loop. */
	bool (*decide)(void *context, struct web_request *asked);
	/* Completes every answer before it is sent, also those that the server gives by itself. */
	void (*dress)(void *context, struct web_request *asked);
	/* A feed to which web_feed returned -ENOBUFS has room for all of feed_bytes again. */
	void (*refill)(void *context, struct web_request *asked);
	void (*end)(void *context, struct web_request *asked); /* the request is over */
	void *context;
};

struct web_counters {
	uint64_t requests;
	/* a trusted proxy named the client in a malformed way, so its network is unknown */
	uint64_t misnamed;
	uint64_t malformed;   /* refused here: 400, 408, 413, 431, 505 */
	uint64_t cut_off;     /* too slow */
	uint64_t crowded_out; /* connections without a request that made room for new ones */
	uint64_t
		turned_away; /* connections refused, or bodies dropped, because their network or all together held too much */
};

/* `listening` is non-blocking; it is closed by web_leave. `proxies` and `clock` are borrowed. NULL: no descriptors. */
struct web *web_new(int listening, const struct web_limits *limits, const struct web_owner *owner,
	const struct web_proxies *proxies, const struct clock *clock);
void web_free(struct web *web); /* takes NULL; cuts the remaining connections */

int web_descriptor(const struct web *web); /* readable when web_work has something to do */
/*
 * Does some work. Returns after how many microseconds to call it again; 0: at once, after other work; -1:
 * when its descriptor is readable.
 */
int64_t web_work(struct web *web);
void web_answer(struct web_request *asked); /* to be called when the answer is complete */

/*
 * Adds bytes to a feed, behind those that are in answer.body. All of them are sent, or none. -ENOBUFS: the client reads too slowly, and
 * `refill` tells when there is room again. -EPIPE: it is no feed, or web_feed_end was called. Not to be called after `end`.
 */
int web_feed(struct web_request *asked, struct bytes bytes);
/* Ends a feed in order, behind the bytes that it has; `end` follows. It is cut if the client has not read them within 30 s. */
void web_feed_end(struct web_request *asked);
unsigned web_feeds(const struct web *web); /* how many are open */

void web_leave(struct web *web); /* serves the existing connections, also feeds, and accepts no new ones */
unsigned web_connections(const struct web *web);
const struct web_counters *web_counters(const struct web *web);
const struct sources *web_sources(const struct web *web);

#endif
