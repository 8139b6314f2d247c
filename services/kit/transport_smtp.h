/*
 * transport_smtp.h: one mail on its way through libcurl, apart from the loop that drives it
 *
 * Inside the SMTP transport only (transport_smtp.c drives, smtp_transfer in transport_smtp_transfer.c is one mail).
 */
#ifndef KIT_TRANSPORT_SMTP_H
#define KIT_TRANSPORT_SMTP_H

#include "bus/base/list.h"
#include "services/kit/transport.h"
#include <curl/curl.h>

enum smtp_gate {
	GATE_SHUT,  /* the body is not out yet, or the claim is not answered */
	GATE_ASKED, /* the body is out: the transfer is paused before its last byte */
	GATE_OPEN,  /* go: the last byte may leave */
	GATE_DROP   /* no: the connection is dropped without it */
};

enum smtp_command { SMTP_CONNECT, SMTP_LOGIN, SMTP_MAIL, SMTP_RCPT, SMTP_DATA };

struct smtp_transfer {
	struct list hook;      /* in one of the transport's lists */
	struct effect *effect; /* NULL: stopped; it is only being brought to its end */
	CURL *easy;            /* NULL: waits for a free place */
	struct curl_slist *to;
	struct buffer mime; /* our own: the request may be freed before the connection is down */
	char envelope_from[ADDRESS_MAX + 1], envelope_to[ADDRESS_MAX + 1];
	bool claim;
	curl_socket_t fd; /* of its connection, as far as we were told */
	size_t read;
	enum smtp_gate gate;
	bool must_ask;             /* the claim is to be asked for as soon as libcurl has returned */
	bool handed_over;          /* the last byte was given to libcurl */
	enum smtp_command command; /* the last one that we sent */
	bool leaving;              /* said QUIT: answers are to that */
	long code;                 /* of the last answer to it; 0: none yet */
	char answer[256];          /* the server's last line */
};

/* -EINVAL: the envelope or the lines of the mail are not what SMTP may carry. */
int smtp_transfer_new(struct effect *effect, const struct mail *mail, struct smtp_transfer **ret);
void smtp_transfer_free(struct smtp_transfer *transfer); /* the easy handle must be at its end */
/* Makes the easy handle, ready for curl_multi_add_handle. */
void smtp_transfer_prepare(struct smtp_transfer *transfer, const struct smtp_settings *settings);
/* Answers the claim; false: the server has hung up meanwhile, so it is no after all. */
bool smtp_transfer_proceed(struct smtp_transfer *transfer, bool go);
struct mail_result smtp_transfer_result(const struct smtp_transfer *transfer, CURLcode code);

#endif
