/*
 * web_inside.h: what the parts of the server share: web.c (who is connected, and who has to go), head.c (the head, judged before
 * anybody else reads it) and library.c (libmicrohttpd: the body and the answer)
 */
#ifndef KIT_WEB_WEB_INSIDE_H
#define KIT_WEB_WEB_INSIDE_H

#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "services/kit/web/web.h"

enum {
	SMALL_BODY = 32 * 1024,         /* up to this a body is never made to wait */
	CHUNKED_MOST = 32 * 1024,       /* of a body in chunks, which is judged whole */
	DISCARD_MOST = 8 * 1024 * 1024, /* read and thrown away, so that a client hears its answer; past it: cut */
	PART_COST = 64,                 /* bytes that the library needs for an argument, a cookie or a header */
	PIECE_MOST = 64 * 1024          /* looked at at once: more than a head and a body in chunks */
};

struct MHD_Daemon;
struct MHD_Connection;

enum web_library { LIBRARY_PLAIN, LIBRARY_ROOMY, LIBRARIES };

enum web_phase {
	PHASE_HEAD,     /* its head has not all come; neither has a body in chunks */
	PHASE_BODY,     /* its body comes, or waits until its network has paid */
	PHASE_DECIDING, /* it is complete, and its owner will answer */
	PHASE_ANSWERING,
	PHASE_LINGERING /* it was refused, and what still comes is thrown away for a moment */
};

struct web_exchange { /* a connection, and the one request that is taken on it */
	struct web *web;
	int fd;                         /* -1: it has ended */
	struct MHD_Connection *library; /* who holds the descriptor; NULL: we do */
	enum web_phase phase;
	uint32_t watched;      /* epoll's events; 0: it is not watched by us */
	struct list timed;     /* in web's busy, deciding or lingering; the oldest first */
	struct list receiving; /* in web's small or large, while its body is kept */
	struct list waiting;   /* in web's lane (for its turn) or resting (its network has spent its work) */
	int64_t since_us;      /* boot time: of `timed` */
	int64_t rest_until_us; /* of web's resting */
	struct source *peer;   /* who is connected; NULL: a proxy, or nobody known */
	struct source *client; /* of this request; held by source_attach if behind_proxy */
	bool behind_proxy;
	size_t seen, scanned; /* bytes that lie in the kernel's buffer, and how many of them hold no end of a head */
	char *head;
	size_t head_len;
	struct request request;
	uint64_t length; /* of its body, as its head says; 0: none, or in chunks */
	bool chunked;
	struct buffer body;
	size_t body_most;
	uint64_t received; /* of the body, by the library */
	uint64_t awaited,
		discarded; /* of what is thrown away by us: where the request ends, 0: unknown; and what has come */
	size_t counted;    /* bytes that are taken from its source's */
	int64_t spent_us;
	bool large;
	bool suspended; /* the library does not read it */
	bool refused;   /* its answer is out */
	bool ended;     /* and the library has still to let go of it */
	struct answer answer;
};

struct web {
	int epoll;
	int listening; /* -1: it leaves */
	int spare;     /* a descriptor to give away when there is none left, so that a waiting client can be told so */
	struct web_limits limits;
	struct web_owner owner;
	const struct web_proxies *proxies;
	const struct clock *clock;
	struct sources *sources;
	struct web_counters counters;
	struct list busy, deciding, lingering;
	struct list small, large;
	struct list lane, resting;
	struct list dead; /* closed, freed at the end of the turn */
	struct MHD_Daemon *libraries[LIBRARIES];
	struct web_exchange *handed; /* that is being given to the library now */
	bool library_due;            /* it has something to do without an event */
	bool served_large;           /* in this turn one was decided: enough */
	char piece[PIECE_MOST];
};

static inline int64_t web_now_us(const struct web *web)
{
	return clock_boot_us(web->clock);
}

/* ---- web.c ---- */

void web_watch(struct web_exchange *exchange, uint32_t events);  /* epoll's; 0: not any more */
void web_time(struct web_exchange *exchange, struct list *list); /* from now on, in one of web's */
void web_end(struct web_exchange *exchange); /* freed at the end of the turn, or when the library lets go */
/* What it holds is counted. false: there was no room, and the exchange was refused or is gone. */
bool web_count_bytes(struct web_exchange *exchange);
void web_forget_body(struct web_exchange *exchange);
void web_name_client(struct web_exchange *exchange); /* the head is there: who is behind the proxy? */
void web_spend(struct web_exchange *exchange, size_t len);
void web_settle(struct web_exchange *exchange); /* it is answered: is what it cost to be paid? */
void web_queue(struct web_exchange *exchange);  /* it is suspended, and goes on when its turn comes */

/* ---- head.c ---- */

void head_look(struct web_exchange *exchange, bool ended); /* something has come, or `ended`: nothing more will */
void head_discard(struct web_exchange *exchange);          /* of one that lingers and is ours */
/* Answers at once, also before the request is complete. Its connection ends, and may have ended already. */
void web_refuse(struct web_exchange *exchange, unsigned status, const char *words);
void web_linger(struct web_exchange
		*exchange); /* what still comes is thrown away for a moment, or the kernel would take the answer back */

/* ---- library.c ---- */

bool library_start(struct web *web);
int library_descriptor(const struct web *web, enum web_library which);
void library_take(struct web_exchange *exchange);          /* hands its socket over */
void library_go_on(struct web_exchange *exchange);         /* after web_queue */
void library_let_go(struct web_exchange *exchange);        /* of one that has ended */
size_t library_bytes(const struct web_exchange *exchange); /* of memory, that it uses or will use for this one */
void library_run(struct web *web);
void library_stop(struct web *web);
const char *library_reason(unsigned status);

#endif
