/*
 * http.h: the one way out over HTTP: requests that never block, of which nothing leaves that was not meant to
 *
 * Three ways to use it. An effect: http_driver_new(name, ...) is a driver whose effects ask for a struct http_request and end with
 * a struct http_answer; with `holds` it claims before the last byte of the body. Another driver: an http_client inside it
 * (SES in the mail driver), whose calls hold before the last byte until http_call_proceed. Tests: services/kit/http/guard.h alone.
 *
 * Of every request: TLS is checked, redirects are not followed (a 3xx is the answer), no proxy or .netrc is taken from the
 * environment, answers are neither unpacked nor longer than `most_bytes`, and its time is up at `deadline_us`.
 */
#ifndef KIT_HTTP_HTTP_H
#define KIT_HTTP_HTTP_H

#include "bus/actor/effect.h"
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"

#define HTTP_MOST_BYTES (1024 * 1024)
#define HTTP_DEADLINE_US (30 * US_PER_S)

enum { HTTP_WANTED_MAX = 6, HTTP_URL_MAX = 2048 };

/* Whom a request may reach. Each address is judged by its bits before the connection, after its name was resolved. */
enum http_reach {
	HTTP_REACH_PUBLIC, /* an address that somebody else chose: https alone, public addresses alone, no user in the URL */
	HTTP_REACH_ADMIN /* an address from cartbus.conf: https anywhere; plain http only on this machine and in private nets */
};

enum http_auth_kind {
	HTTP_AUTH_NONE,
	HTTP_AUTH_BEARER, /* Authorization: Bearer <secret> */
	HTTP_AUTH_HEADER, /* <name>: <secret> */
	HTTP_AUTH_BASIC,  /* the secret is "user:password" */
	HTTP_AUTH_SIGV4 /* AWS; the secret is "access key id:secret key", or with a third part, the session token. No query in the URL */
};

struct http_auth {
	enum http_auth_kind kind;
	char secret[128];  /* name of a file below [paths] secrets ("api/demo"), read for each request */
	const char *value; /* instead of it, what is only in memory (an OAuth token); borrowed until the end */
	char name[40];     /* of HEADER */
	char region[32], service[32]; /* of SIGV4 */
};

struct http_request {
	char method[8];
	char url[HTTP_URL_MAX];
	struct buffer headers; /* http_request_header */
	struct buffer body;
	struct http_auth auth;
	char ca[256];        /* file of certificates to trust; "": the system's */
	int64_t deadline_us; /* boot time that it may take, all in all; 0: HTTP_DEADLINE_US */
	size_t most_bytes;   /* of the answer's body; 0: HTTP_MOST_BYTES */
	enum http_reach reach;
	bool holds;                          /* before the last byte of its body, which it must have */
	const char *wanted[HTTP_WANTED_MAX]; /* names of headers of the answer; constants */
};

/* Fills one. -EINVAL: the URL does not fit, or method or URL has what may not be in it: the request then fails as HTTP_BARRED. */
int http_request_init(struct http_request *request, const char *method, const char *url_format, ...)
	__attribute__((format(printf, 3, 4)));
/* -EINVAL: not a token, or a value with control characters; nothing was added. */
int http_request_header(struct http_request *request, const char *name, const char *value);
void http_request_clear(struct http_request *request); /* what it owns, not the struct itself */

enum http_end {
	HTTP_ANSWERED, /* with any status */
	HTTP_NOT_SENT, /* nobody can have all of it: it has not happened */
	HTTP_UNKNOWN, /* all of it may have arrived, and no whole answer came: in time, at all, or within `most_bytes` */
	HTTP_BARRED /* never tried, and will fail the same way again: where it goes is not allowed, or its secret is missing */
};

struct http_answer {
	enum http_end end;
	long status;   /* 0: none came */
	bool too_long; /* of UNKNOWN: its body is longer than `most_bytes` */
	bool went;     /* not held back: the request's last byte was let go before this came */
	struct bytes body;
	char words
		[256]; /* what failed; of ANSWERED "HTTP <status>". No address of a person, no secret, nothing of the URL but its host */
	struct {
		const char *name;
		char value[128];
	} headers[HTTP_WANTED_MAX];
};

/* Of a wanted one; NULL: it did not come, or its value does not fit. */
const char *http_answer_header(const struct http_answer *answer, const char *name);
/* How long the server asks to be left alone (Retry-After in seconds, which must be wanted), at most `most_us`; else `otherwise_us`. */
int64_t http_answer_retry_us(const struct http_answer *answer, int64_t otherwise_us, int64_t most_us);

/* ---- an effect driver ---- */

struct http_settings {
	const struct clock *clock;
	const char *secrets; /* folder; copied */
	bool private_too;    /* every request may reach as far as HTTP_REACH_ADMIN: the admin said so */
	const char *ca;      /* for requests that name none; NULL: the system's. Copied */
	const char
		*peer; /* as whose throttling a 429 is counted (metrics_throttled_by); NULL: as nobody's. A constant */
	int failures;  /* so many in a row, and a host is left alone for ... */
	int64_t pause_us; /* ... so long (boot time), then tried by one request at a time. 0: never */
};
struct http_settings http_settings_of(const struct config *config, const struct clock *clock);
struct http_settings http_settings_of_storefronts(
	const struct config *config, const struct clock *clock); /* and [storefront] */

/* Requests: a struct http_request, or what begins with one. Results: struct http_answer. */
struct effect_driver *http_driver_new(const char *name, const struct http_settings *settings);

/* ---- for another driver ---- */

struct http_client;
struct http_call;

/* Called from http_client_work alone, where calls may be made, proceeded with and stopped. */
struct http_caller {
	void (*held)(void *context, struct http_call *call); /* everything but the last byte is out, and acknowledged */
	/* Boot time of the client's clock until which the last byte of what holds may go: later it is cut off. NULL: whenever. */
	int64_t (*until_us)(void *context);
	void (*done)(void *context, const struct http_answer *answer); /* borrowed; the call is gone */
};

struct http_client *http_client_new(const struct http_settings *settings);
void http_client_free(
	struct http_client *client); /* cuts what still runs, without its last byte; nobody is told. Takes NULL */
int http_client_fd(const struct http_client *client);          /* readable when work() should be called */
int64_t http_client_wait_us(const struct http_client *client); /* call work() at the latest after this; -1: no hurry */
void http_client_work(struct http_client *client);

/* Never NULL, what cannot be tried ends in work(). `request` and `caller` are borrowed until done or stop. */
struct http_call *http_call_new(struct http_client *client, const struct http_request *request,
	const struct http_caller *caller, void *context);
/*
 * After held: the last byte goes, or the connection is cut without it. If the server has hung up or takes nothing more, or if it is
 * too late, it is no after all.
 */
void http_call_proceed(struct http_call *call, bool go);
void http_call_stop(
	struct http_call *call); /* cut at once, without its last byte if it has not gone; no done. Takes NULL */

#endif
