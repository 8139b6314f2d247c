/*
 * web.h: a small HTTP/1.1 server in a process's loop, for strangers
 *
 * Its owner decides at the head of a request whether it wants the body, and answers the whole request, at once or later. Everything
 * before that is bounded here (bus/base/sources.h): connections, bytes and work, per network and in all.
 *
 * - The server refuses a head, or chunks, that two servers could read differently (request.h, chunks.h).
 * - Requests with small bodies are served first. Requests with large bodies share the budget of a network that has not proven itself,
 *   and wait while it is spent. When memory is short the server drops the oldest large body and answers its sender 503.
 * - A request has to be complete within 5 s, or it is answered 408. An idle connection may stay for a while, and makes room first.
 * - A client that is refused while it still sends is answered, and the server reads on for a moment, so that the answer arrives.
 */
#ifndef KIT_WEB_WEB_H
#define KIT_WEB_WEB_H

#include "bus/actor/process.h"
#include "bus/base/sources.h"
#include "services/kit/web/network.h"
#include "services/kit/web/request.h"

struct web;
struct web_exchange; /* a request that is being answered */

struct web_limits {
	struct source_limits sources; /* connections_all is the most there are */
	size_t head_most, body_most;
	unsigned connections_kept_free; /* so that a new connection never waits for slow ones */
};

struct web_owner {
	/*
	 * Judges a head whose framing is right. false: *answer is the answer. true: reads the body, of at most *body_most bytes, which the
	 * owner may lower.
	 */
	bool (*judge_head)(void *context, const struct request *request, struct answer *answer, size_t *body_most);
	/* Answers a whole request. true: *answer is the answer. false: the owner calls web_answer later, from the loop; `request` and `answer` live until then. */
	bool (*decide)(void *context, struct web_exchange *exchange, struct request *request, struct answer *answer);
	void *context;
};

struct web_counters {
	uint64_t requests;
	uint64_t malformed;   /* refused here: 400, 408, 413, 431, 505 */
	uint64_t cut_off;     /* too slow */
	uint64_t crowded_out; /* connections without a request that made room for new ones */
	uint64_t
		turned_away; /* connections refused, or bodies dropped, because their network or all together held too much */
};

/* `listening` is non-blocking; it is closed by web_leave. `proxies` and `clock` are borrowed. NULL: no descriptors. */
struct web *web_new(int listening, const struct web_limits *limits, const struct web_owner *owner,
	const struct web_proxies *proxies, const struct clock *clock);
void web_free(struct web *web); /* takes NULL; cuts the connections that are left */

int web_descriptor(const struct web *web); /* readable when web_work has something to do */
/* Serves for a moment. Returns after how many microseconds to call it again; 0: at once, after the others; -1: when its descriptor is readable. */
int64_t web_work(struct web *web);
void web_answer(struct web_exchange *exchange); /* its answer is complete */

void web_leave(struct web *web); /* serves the connections that are there, and takes no new ones */
unsigned web_connections(const struct web *web);
const struct web_counters *web_counters(const struct web *web);
const struct sources *web_sources(const struct web *web);

#endif
