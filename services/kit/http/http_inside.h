/*
 * http_inside.h: the parts of the HTTP client: the loop, a call, its credentials
 *
 * Inside services/kit/http*.c only.
 */
#ifndef KIT_HTTP_HTTP_INSIDE_H
#define KIT_HTTP_HTTP_INSIDE_H

#include "bus/base/list.h"
#include "services/kit/effect/last_byte.h"
#include "services/kit/http/http.h"
#include <curl/curl.h>

struct http_client {
	const struct clock *clock;
	char secrets[256], ca[256];
	bool private_too;
	const char *peer; /* NULL: throttling is not counted here */
	CURLM *multi;
	int epoll;
	int64_t timer_us; /* boot time of libcurl's next deadline; -1: none */
	struct list calls;
};

enum http_gate {
	HTTP_GATE_SHUT,   /* the last byte of the body is not due yet */
	HTTP_GATE_HELD,   /* it is due, and proceed was not called yet */
	HTTP_GATE_OPEN,   /* it may leave */
	HTTP_GATE_DROPPED /* the connection is cut without it */
};

struct http_call {
	struct list hook; /* in the client's calls */
	struct http_client *client;
	const struct http_request *request; /* borrowed */
	const struct http_caller *caller;   /* borrowed */
	void *context;
	CURL *easy;       /* NULL: was never tried */
	curl_socket_t fd; /* of its connection, as far as libcurl watches it */
	struct curl_slist *headers;
	enum http_reach reach;
	bool is_plain; /* not TLS */
	size_t given;  /* of the request's body, to libcurl */
	enum http_gate gate;
	bool must_tell;   /* held() must be called as soon as all sent bytes are acknowledged */
	int look_ms;      /* milliseconds from one look for the acknowledgement to the next */
	int64_t look_us;  /* boot time of the next one */
	bool is_too_long; /* the answer is too long for the request */
	/* the connection is open: from now on a part of the request may have arrived */
	bool has_begun;
	bool handed_over;       /* its last byte was given to libcurl */
	bool is_out;            /* libcurl gave it to the kernel */
	struct last_byte *last; /* cuts the connection in time */
	bool refused_early;     /* the server answered an error before that */
	bool has_ended;
	size_t heard;         /* bytes of the answer's head */
	struct buffer body;   /* the answer's */
	enum http_end barred; /* HTTP_BARRED; or HTTP_ANSWERED: it is not barred */
	char why[160];        /* why it was barred or dropped; "": libcurl's error tells */
	CURLcode code;
	char error[CURL_ERROR_SIZE];
};

/* Prepares a call; has_ended tells if it cannot be tried. */
struct http_call *http_call_prepare(struct http_client *client, const struct http_request *request);
void http_call_free(struct http_call *call);     /* Takes NULL */
bool http_call_has_news(struct http_call *call); /* true: it has ended, or held() must be called */
void http_call_note_out(struct http_call *call); /* to be called after libcurl has worked on it */
void http_call_fill(const struct http_call *call, struct http_answer *ret);

/*
 * Gives libcurl the credentials that the request's auth names. -EINVAL: ret_why says what is missing, without
 * the secret.
 */
int http_auth_apply(struct http_call *call, char ret_why[160]);
void http_call_add_header(struct http_call *call, const char *line);

#endif
