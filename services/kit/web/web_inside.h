/*
 * web_inside.h: what the parts of the server share: web.c (who is connected, and who has to go), head.c (the head, judged before
 * anybody else reads it) and library.c (libmicrohttpd: the body and the answer)
 */
#ifndef KIT_WEB_WEB_INSIDE_H
#define KIT_WEB_WEB_INSIDE_H

#include "bus/base/bytes.h"
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

struct web_connection { /* a connection, and the one request that is taken on it */
	struct web *web;
	int fd;                         /* -1: it has ended */
	struct MHD_Connection *library; /* who holds the descriptor; NULL: we do */
	enum web_phase phase;
	uint32_t watched;      /* epoll's events; 0: it is not watched by us */
	struct list timed;     /* in web's busy, streaming, deciding or lingering; the oldest first */
	struct list receiving; /* in web's small or large, while its body is kept */
	struct list waiting;   /* in web's queue (for its turn) or resting (its network has spent its work) */
	int64_t since_us;      /* boot time: of `timed` */
	int64_t rest_until_us; /* of web's resting */
	struct source *peer;   /* who is connected; NULL: a proxy, or nobody known */
	struct source *client; /* of this request; held by source_attach if behind_proxy */
	bool behind_proxy;
	size_t seen, scanned; /* bytes that lie in the kernel's buffer, and how many of them hold no end of a head */
	char *head;
	size_t head_len;
	struct web_request asked;
	bool begun;      /* the owner knows of the request, and has to be told of its end */
	uint64_t length; /* of its body, as its head says; 0: none, or in chunks */
	bool chunked;
	struct buffer body;
	uint64_t received; /* of the body, by the library */
	uint64_t awaited,
		discarded; /* bytes that we read and throw away: how many the request still has (0: unknown), and how many came */
	struct source *stream; /* of web's streams, while `streaming` */
	size_t stream_bytes;
	int64_t stream_until_us;
	bool streaming;
	size_t counted; /* bytes that are taken from its source's */
	int64_t spent_us;
	bool large;
	bool suspended; /* the library does not read it */
	bool refused;   /* its answer is out */
	bool ended;     /* and the library has still to let go of it */
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
	struct sources *streams; /* NULL: no body is streamed */
	struct web_counters counters;
	struct list busy, streaming, deciding, lingering;
	struct list small, large;
	struct list queue, resting;
	struct list dead; /* closed, freed at the end of the turn */
	struct MHD_Daemon *libraries[LIBRARIES];
	struct web_connection *handed; /* that is being given to the library now */
	bool library_due;              /* it has something to do without an event */
	bool served_large;             /* in this turn one was decided: enough */
	char piece[PIECE_MOST];
};

static inline int64_t web_now_us(const struct web *web)
{
	return clock_boot_us(web->clock);
}

/* ---- web.c ---- */

void web_watch(struct web_connection *connection, uint32_t events);  /* epoll's; 0: not any more */
void web_time(struct web_connection *connection, struct list *list); /* from now on, in one of web's */
void web_end(struct web_connection *connection); /* freed at the end of the turn, or when the library lets go */
/* What it holds is counted. false: there was no room, and the connection was refused or is gone. */
bool web_count_bytes(struct web_connection *connection);
void web_forget_body(struct web_connection *connection);
void web_name_client(struct web_connection *connection); /* the head is there: who is behind the proxy? */
void web_spend(struct web_connection *connection, size_t len);
void web_settle(struct web_connection *connection); /* it is answered: is what it cost to be paid? */
/* Its body is streamed from now on, until web_end_request. false: there are too many, or they are too large. */
bool web_begin_stream(struct web_connection *connection);
bool web_keep_streaming(struct web_connection *connection); /* a piece has come. false: it has been too long */
void web_dress(struct web_connection *connection);          /* its answer is complete, and is sent next */
void web_end_request(struct web_connection *connection);    /* tells the owner, once */
void web_queue(struct web_connection *connection);          /* it is suspended, and goes on when its turn comes */

/* ---- head.c ---- */

void head_look(struct web_connection *connection, bool ended); /* something has come, or `ended`: nothing more will */
void head_discard(struct web_connection *connection);          /* of one that lingers and is ours */
/* Answers at once, also before the request is complete. Its connection ends, and may have ended already. */
void head_refuse(struct web_connection *connection); /* web_refuse with the answer that is complete */
void web_refuse(struct web_connection *connection, unsigned status, const char *words);
void head_send_answer(struct web_connection *connection); /* its answer, to a client that was answered nothing yet */
void web_linger(struct web_connection *
		connection); /* what still comes is thrown away for a moment, or the kernel would take the answer back */

/*
 * Judges a chunked body, as it lies before us: can it be read in one way only (RFC 9112 section 7.1)? Returns how many bytes of `data` the whole body takes, its last empty line included; 0: the end has not come yet. -EBADMSG: *ret_why says why.
 * Stricter than the RFC: a size is 1 to 8 hexadecimal digits, every line ends with CRLF, and there are no extensions and no trailers,
 * which libmicrohttpd 0.9.75 reads loosely and which no sender of ours uses.
 */
long chunks_end(struct bytes data, const char **ret_why);

/* ---- library.c ---- */

bool library_start(struct web *web);
int library_descriptor(const struct web *web, enum web_library which);
void library_take(struct web_connection *connection);          /* hands its socket over */
void library_go_on(struct web_connection *connection);         /* after web_queue */
void library_let_go(struct web_connection *connection);        /* of one that has ended */
size_t library_bytes(const struct web_connection *connection); /* of memory, that it uses or will use for this one */
void library_run(struct web *web);
void library_stop(struct web *web);
const char *library_reason(unsigned status);

#endif
