/*
 * transport_smtp.h: the parts of the SMTP transport: a connection, and one mail's way over it
 *
 * Inside the SMTP transport only. transport_smtp.c drives; smtp_connection (transport_smtp_connection.c) is libcurl's part: name,
 * TCP, TLS, greeting and login; smtp_transfer (transport_smtp_transfer.c) is one mail: MAIL, RCPT, DATA, the claim, the last byte.
 * libcurl could speak all of it, but waits for the answer to a mail without coming back, and everything else waits with it.
 */
#ifndef KIT_MAIL_TRANSPORT_SMTP_H
#define KIT_MAIL_TRANSPORT_SMTP_H

#include "bus/base/list.h"
#include "services/kit/effect/last_byte.h"
#include "services/kit/mail/transport.h"
#include <curl/curl.h>

/* What the server said last: to us, or while libcurl greeted it and logged in. */
struct smtp_answer {
	long code; /* 0: none yet */
	char text[256];
};

/* Takes a line as it came. Words that contain an address are left out: results go into logs and facts. */
void smtp_answer_note(struct smtp_answer *answer, const char *line, size_t len);

/* ---- a connection ---- */

struct smtp_connection {
	struct list hook; /* in the transport's list */
	CURLM *multi;     /* its own: one that is shared closes idle connections as it likes */
	CURL *easy;
	int epoll;        /* the transport's, borrowed */
	curl_socket_t fd; /* once it is open */
	uint32_t events;  /* that epoll is asked for, once it is open */
	bool is_open;     /* greeted and logged in: from now on libcurl only carries bytes */
	bool is_used;     /* a mail went over it already */
	int64_t timer_us; /* boot time of libcurl's next deadline while it opens; -1: none */
	const struct clock *clock;
	struct smtp_answer answer;
};

/* Begins to open one; never NULL. */
struct smtp_connection *smtp_connection_new(const struct smtp_settings *settings, int epoll);
/* Cut at once: nothing more leaves through it. Takes NULL. */
void smtp_connection_free(struct smtp_connection *connection);
/* An idle one: says QUIT, and does not wait for an answer. */
void smtp_connection_leave(struct smtp_connection *connection);
/* `events` of epoll at `fd`, if it is its own; 0: only libcurl's deadline. 1: open now; 0: not yet; negative: ret_why says why not. */
int smtp_connection_opening(struct smtp_connection *connection, curl_socket_t fd, uint32_t events, char ret_why[256]);
/* Nothing has come from the other end that nobody asked for: no goodbye, no end of the connection. */
bool smtp_connection_is_quiet(struct smtp_connection *connection);
/* What was sent or received; -EAGAIN: not now; else it is broken, or (receiving) has ended: -ECONNRESET. */
ssize_t smtp_connection_send(struct smtp_connection *connection, struct bytes bytes);
ssize_t smtp_connection_receive(struct smtp_connection *connection, void *to, size_t room);
void smtp_connection_wait(struct smtp_connection *connection, uint32_t events); /* of epoll */

/* ---- one mail ---- */

enum smtp_gate {
	GATE_SHUT,  /* the body is not out yet, or the server's TCP has not acknowledged it */
	GATE_ASKED, /* it has, all but the last byte; the claim is not answered */
	GATE_OPEN,  /* go: the last byte may leave */
	GATE_DROP   /* no: the connection is dropped without it */
};

enum smtp_step { SMTP_CONNECT, SMTP_MAIL, SMTP_RCPT, SMTP_DATA, SMTP_BODY, SMTP_LAST };

struct smtp_transfer {
	struct list hook; /* in one of the transport's lists */
	struct effect *effect;
	struct smtp_connection *connection; /* NULL: waits for a free place */
	struct buffer mime;                 /* as it goes over the wire, dots doubled; our own copy */
	char envelope_from[ADDRESS_MAX + 1], envelope_to[ADDRESS_MAX + 1];
	bool claim;
	enum smtp_step step; /* of which the answer is awaited; of BODY: which is being sent */
	struct buffer out;   /* to be sent */
	size_t sent;         /* of it */
	char line[600];      /* of an answer, as far as it has come; RFC 5321 allows 512 */
	size_t line_len;
	size_t heard; /* bytes since the last thing that was said */
	enum smtp_gate gate;
	bool must_ask;   /* the claim is to be asked for as soon as the transport has a moment */
	int look_ms;     /* how long from one look to the next whether the body is acknowledged; 0: nobody looks */
	int64_t look_us; /* boot time of the next one */
	struct last_byte *last; /* cuts what a claim allows in time */
	bool handed_over;       /* the last byte was given away, all of it */
	uint64_t number;        /* in order of their start */
	int64_t begun_us;       /* boot time */
	bool no_server;         /* a connection could not be opened */
	bool has_ended;         /* its result is known */
	int64_t deadline_us;    /* boot time: an answer is awaited until then; -1: it is our turn */
	char trouble[256];      /* why it ended without an answer */
	struct smtp_answer answer;
};

/* -EINVAL: the envelope or the lines of the mail are not what SMTP may carry. */
int smtp_transfer_new(struct effect *effect, const struct mail *mail, struct smtp_transfer **ret);
void smtp_transfer_free(struct smtp_transfer *transfer); /* and its connection, if it still has one. Takes NULL */
/* Its connection is open. */
void smtp_transfer_begin(struct smtp_transfer *transfer);
/* As far as it goes without waiting. */
void smtp_transfer_work(struct smtp_transfer *transfer);
/* Boot time at which it is to be worked on, or has lost its time, though nothing came; -1: it only waits. */
int64_t smtp_transfer_next_us(const struct smtp_transfer *transfer);
/* Answers the claim. Not if the server has hung up meanwhile, or if the answer has grown too old: then it is no after all. */
void smtp_transfer_proceed(struct smtp_transfer *transfer, bool go);
/* It cannot go on, for a reason of ours. */
void smtp_transfer_fail(struct smtp_transfer *transfer, const char *trouble);
struct mail_result smtp_transfer_result(const struct smtp_transfer *transfer);

#endif
