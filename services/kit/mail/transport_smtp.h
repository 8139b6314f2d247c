/*
 * transport_smtp.h: the parts of the SMTP transport: a connection, and one mail's way over it
 *
 * Only for the SMTP transport. transport_smtp.c is the driver; smtp_connection (transport_smtp_connection.c)
 * is libcurl's part: name, TCP, TLS, greeting and login; smtp_transfer (transport_smtp_transfer.c) is one
 * mail: MAIL, RCPT, DATA, the claim, the last byte. libcurl could do all of it, but it blocks until the
 * answer to a mail, and everything else would wait with it.
 */
#ifndef KIT_MAIL_TRANSPORT_SMTP_H
#define KIT_MAIL_TRANSPORT_SMTP_H

#include "bus/base/list.h"
#include "services/kit/effect/last_byte.h"
#include "services/kit/mail/transport.h"
#include <curl/curl.h>

/* The server's last reply: to us, or to libcurl's greeting and login. */
struct smtp_answer {
	long code; /* 0: none yet */
	char text[256];
};

/*
 * Reads a line of a reply. Words that contain an address are left out, because results go into logs and
 * facts.
 */
void smtp_answer_note(struct smtp_answer *answer, const char *line, size_t len);

/* ---- a connection ---- */

struct smtp_connection {
	struct list hook; /* in the transport's list */
	CURLM *multi;     /* its own, because a shared one closes idle connections at will */
	CURL *easy;
	int epoll;        /* the transport's, borrowed */
	curl_socket_t fd; /* once it is open */
	uint32_t events;  /* that epoll is asked for, once it is open */
	bool is_open;     /* greeted and logged in: from now on libcurl only carries bytes */
	int64_t timer_us; /* boot time of libcurl's next deadline while it opens; -1: none */
	const struct clock *clock;
	struct smtp_answer answer;
};

/* Begins to open one; never NULL. */
struct smtp_connection *smtp_connection_new(const struct smtp_settings *settings, int epoll);
/* Cuts it at once: nothing more is sent. Takes NULL. */
void smtp_connection_free(struct smtp_connection *connection);
/* For an idle connection: sends QUIT and does not wait for an answer. */
void smtp_connection_leave(struct smtp_connection *connection);
/*
 * Continues the opening. `events` are those of epoll at `fd`; 0: only libcurl's deadline. Returns 1: it is
 * open; 0: not yet; a negative errno: ret_why gives the reason.
 */
int smtp_connection_opening(struct smtp_connection *connection, curl_socket_t fd, uint32_t events, char ret_why[256]);
/* true: the server has sent nothing unasked, such as a goodbye or the end of the connection. */
bool smtp_connection_is_quiet(struct smtp_connection *connection);
/*
 * The number of bytes sent or received. -EAGAIN: not now. Another negative errno: the connection is broken;
 * -ECONNRESET also when it has ended.
 */
ssize_t smtp_connection_send(struct smtp_connection *connection, struct bytes bytes);
ssize_t smtp_connection_receive(struct smtp_connection *connection, void *to, size_t room);
void smtp_connection_wait(struct smtp_connection *connection, uint32_t events); /* of epoll */

/* ---- one mail ---- */

enum smtp_gate {
	GATE_SHUT,  /* the body is not sent yet, or the server's TCP has not acknowledged it */
	GATE_ASKED, /* all but the last byte is acknowledged; the claim is not answered yet */
	GATE_OPEN,  /* go: the last byte may leave */
	GATE_DROP   /* no: the connection is dropped without it */
};

enum smtp_step { SMTP_CONNECT, SMTP_MAIL, SMTP_RCPT, SMTP_DATA, SMTP_BODY, SMTP_LAST };

struct smtp_transfer {
	struct list hook; /* in one of the transport's lists */
	struct effect *effect;
	struct smtp_connection *connection; /* NULL: waits for a free place */
	struct buffer mime;                 /* as sent, with dots doubled; our own copy */
	char envelope_from[ADDRESS_MAX + 1], envelope_to[ADDRESS_MAX + 1];
	bool claim;
	enum smtp_step step; /* the step whose answer is awaited; in BODY: the step that is being sent */
	struct buffer out;   /* to be sent */
	size_t sent;         /* bytes of `out` that were sent */
	char line[600];      /* the received part of an answer line; RFC 5321 allows 512 bytes */
	size_t line_len;
	size_t heard; /* bytes received since the last command */
	enum smtp_gate gate;
	bool must_ask; /* the claim must be asked for as soon as possible */
	/* milliseconds from one look for the acknowledgement of the body to the next; 0: none */
	int look_ms;
	int64_t look_us;        /* boot time of the next one */
	struct last_byte *last; /* cuts the connection when the claim's time is over */
	bool handed_over;       /* the kernel has taken the last byte */
	uint64_t number;        /* in order of their start */
	int64_t begun_us;       /* boot time */
	bool no_server;         /* a connection could not be opened */
	bool has_ended;         /* its result is known */
	int64_t deadline_us;    /* boot time until which an answer is awaited; -1: we have to send */
	char trouble[256];      /* why it ended without an answer */
	struct smtp_answer answer;
};

/* -EINVAL: the envelope or the lines of the mail are not what SMTP may carry. */
int smtp_transfer_new(struct effect *effect, const struct mail *mail, struct smtp_transfer **ret);
/* also frees its connection, if it has one; takes NULL */
void smtp_transfer_free(struct smtp_transfer *transfer);
/* Its connection is open. */
void smtp_transfer_begin(struct smtp_transfer *transfer);
/* Works as far as it can without waiting. */
void smtp_transfer_work(struct smtp_transfer *transfer);
/*
 * The boot time at which smtp_transfer_work must be called without an event, also for its deadline; -1: it
 * waits for events only.
 */
int64_t smtp_transfer_next_us(const struct smtp_transfer *transfer);
/*
 * Passes on the answer to the claim. If the server has hung up, or the answer came too late, the last byte is
 * not sent.
 */
void smtp_transfer_proceed(struct smtp_transfer *transfer, bool go);
/* Ends the transfer for a reason of our own. */
void smtp_transfer_fail(struct smtp_transfer *transfer, const char *trouble);
struct mail_result smtp_transfer_result(const struct smtp_transfer *transfer);

#endif
