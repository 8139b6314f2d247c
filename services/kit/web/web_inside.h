/*
 * web_inside.h: declarations that the parts of the server share: web.c (connections, and which of them must
 * go), streams.c (large bodies), feed.c (answers without an end), head.c (the head, which is checked before
 * other code reads it) and library.c (libmicrohttpd: the body and the answer)
 */
#ifndef KIT_WEB_WEB_INSIDE_H
#define KIT_WEB_WEB_INSIDE_H

#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "services/kit/web/web.h"

enum {
	SMALL_BODY = 32 * 1024,   /* a body up to this size never waits */
	CHUNKED_MOST = 32 * 1024, /* the largest body in chunks, which is checked as a whole */
	/*
	 * bytes that are read and discarded, so that a client gets its answer; after them the connection is
	 * cut
	 */
	DISCARD_MOST = 8 * 1024 * 1024,
	PART_COST = 64, /* bytes that the library needs for an argument, a cookie or a header */
	/* bytes that are examined at a time; more than a head and a body in chunks */
	PIECE_MOST = 64 * 1024
};

struct MHD_Daemon;
struct MHD_Connection;

enum web_library { LIBRARY_PLAIN, LIBRARY_ROOMY, LIBRARIES };

enum web_phase {
	PHASE_HEAD,     /* its head, or a body in chunks, is not complete */
	PHASE_BODY,     /* its body is being received, or waits until its network may continue */
	PHASE_DECIDING, /* it is complete, and its owner will answer */
	PHASE_ANSWERING,
	PHASE_FEEDING,  /* its answer is a feed, which is open */
	PHASE_LINGERING /* it was refused, and its further bytes are discarded for a moment */
};

struct web_feed {    /* an answer without an end */
	bool open;   /* it has a place in web's feeds */
	bool ending; /* nothing is added any more */
	bool full;   /* the owner waits for room */
	struct source *place;
	struct buffer out; /* bytes for the client; the library has the first `taken` ones */
	size_t taken;
	uint64_t acknowledged; /* bytes that the client's kernel has, when it was last looked at */
	int64_t stuck_us; /* boot time: since when none of the waiting bytes has moved, or since web_feed_end; 0: it is not stuck */
};

struct web_connection { /* a connection, and the one request that is taken on it */
	struct web *web;
	int fd;                         /* -1: it has ended */
	struct MHD_Connection *library; /* has the descriptor; NULL: we have it */
	enum web_phase phase;
	uint32_t watched;      /* epoll's events; 0: it is not watched by us */
	struct list timed;     /* in web's busy, streaming, deciding, feeding or lingering; the oldest first */
	struct list receiving; /* in web's small or large, while its body is kept */
	/* in the list `queue` of web (waits for its turn) or `resting` (its network must rest) */
	struct list waiting;
	int64_t since_us;      /* boot time: of `timed` */
	int64_t rest_until_us; /* of web's resting */
	struct source *peer;   /* the connected peer; NULL: a proxy, or unknown */
	struct source *client; /* of this request; held by source_attach if behind_proxy */
	bool behind_proxy;
	/* bytes in the kernel's buffer, and how many of them were searched for the end of a head */
	size_t seen, scanned;
	char *head;
	size_t head_len;
	struct web_request asked;
	bool begun;      /* the owner knows of the request, and must be told its end */
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
	struct web_feed feed;
	size_t counted; /* bytes that are taken from its source's */
	int64_t spent_us;
	bool large;
	bool suspended; /* the library does not read it */
	bool refused;   /* its answer is sent */
	bool ended;     /* it has ended, but the library still has it */
};

struct web {
	int epoll;
	int listening; /* -1: it leaves */
	int spare;     /* a spare descriptor, to turn away a waiting client when no other is left */
	struct web_limits limits;
	struct web_owner owner;
	const struct web_proxies *proxies;
	const struct clock *clock;
	struct sources *sources;
	struct sources *streams; /* NULL: no body is streamed */
	struct sources *feeds;   /* NULL: there are none */
	struct web_counters counters;
	struct list busy, streaming, deciding, feeding, lingering;
	struct list small, large;
	struct list queue, resting;
	struct list dead; /* closed, freed at the end of the turn */
	struct MHD_Daemon *libraries[LIBRARIES];
	struct web_connection *handed; /* the connection that is being given to the library now */
	bool library_due;              /* it has something to do without an event */
	bool served_large;             /* one large request was served in this turn */
	char piece[PIECE_MOST];
};

static inline int64_t web_now_us(const struct web *web)
{
	return clock_boot_us(web->clock);
}

/* ---- web.c ---- */

/* watches for epoll's events; 0: no longer */
void web_watch(struct web_connection *connection, uint32_t events);
/* moves it to one of web's timed lists, from now on */
void web_time(struct web_connection *connection, struct list *list);
/* ends it; it is freed at the end of the turn, or when the library releases it */
void web_end(struct web_connection *connection);
/* Counts its bytes. false: the budget is exhausted, and the connection was refused or ended. */
bool web_count_bytes(struct web_connection *connection);
void web_forget_body(struct web_connection *connection);
/* the head is complete: reads which client is behind the proxy */
void web_name_client(struct web_connection *connection);
void web_spend(struct web_connection *connection, size_t len);
void web_settle(struct web_connection *connection); /* it is answered: charges its cost, or gives it back */
/* Its body is streamed from now on, until web_end_request. false: there are too many, or they are too large. */
bool web_begin_stream(struct web_connection *connection);
/* to be called for each piece; false: it has taken too long */
bool web_keep_streaming(struct web_connection *connection);
void web_end_stream(struct web_connection *connection); /* gives its place back, if it has one */
/* to be called when its answer is complete, before it is sent */
void web_dress(struct web_connection *connection);
void web_end_request(struct web_connection *connection); /* tells the owner, once */
void web_queue(struct web_connection *connection);       /* suspends it until its turn comes */

/* ---- feed.c ---- */

struct sources *feed_places(const struct web_limits *limits); /* NULL: there are no feeds */
/* Takes a place for an answer that is a feed. false: it is none, or there is no place and the answer is a 503 now. */
bool feed_begin(struct web_connection *connection);
void feed_open(struct web_connection *connection); /* its head is sent: watches whether the client goes away */
/* Moves the next bytes to the library, which must continue it whenever there are some; 0: there are none. */
size_t feed_take(struct web_connection *connection, char *ret, size_t most);
void feed_close(struct web_connection *connection); /* gives its place back, if it has one */
/* Ends the feeds whose clients do not read. Returns after how many microseconds to look again; -1: there are no feeds. */
int64_t feeds_look(struct web *web);

/* ---- head.c ---- */

/* to be called when bytes have come, or with `ended` when no more will come */
void head_look(struct web_connection *connection, bool ended);
/* discards the bytes of a lingering connection that we still have */
void head_discard(struct web_connection *connection);
/*
 * Answers at once, even before the request is complete, and ends the connection, which may have ended
 * already.
 */
void head_refuse(struct web_connection *connection); /* web_refuse with an answer that is complete */
void web_refuse(struct web_connection *connection, unsigned status, const char *words);
/* sends the answer to a client that has not got one yet */
void head_send_answer(struct web_connection *connection);
/* discards further bytes for a moment, because otherwise the kernel would drop the answer */
void web_linger(struct web_connection *connection);

/*
 * Checks a chunked body in memory: can it be read in one way only (RFC 9112 section 7.1)? Returns how many
 * bytes of `data` the whole body has, including its last empty line; 0: the end has not come yet. -EBADMSG:
 * *ret_why gives the reason. It is stricter than the RFC: a size has 1 to 8 hexadecimal digits, every line
 * ends with CRLF, and there are no extensions and no trailers. libmicrohttpd 0.9.75 reads these loosely, and
 * none of our senders uses them.
 */
long chunks_end(struct bytes data, const char **ret_why);

/* ---- library.c ---- */

bool library_start(struct web *web);
int library_descriptor(const struct web *web, enum web_library which);
void library_take(struct web_connection *connection);   /* gives its socket to the library */
void library_go_on(struct web_connection *connection);  /* continues it after web_queue, or when a feed goes on */
void library_let_go(struct web_connection *connection); /* releases a connection that has ended */
/* the bytes of memory that the library uses, or will use, for this connection */
size_t library_bytes(const struct web_connection *connection);
void library_run(struct web *web);
void library_stop(struct web *web);
const char *library_reason(unsigned status);

#endif
