/*
 * http.h: the only HTTP client: requests never block, and nothing leaves that was not meant to
 *
 * There are three ways to use it. As an effect: http_driver_new(name, ...) makes a driver whose requests are
 * struct http_request and whose results are struct http_answer; with `holds` it claims before the last byte
 * of the body. Inside another driver (SES in the mail driver): an http_client, whose calls hold before the
 * last byte until http_call_proceed. In tests: services/kit/http/guard.h alone.
 *
 * For every request: TLS certificates are checked, redirects are not followed (a 3xx is the answer), no proxy
 * or .netrc is taken from the environment, answers are not unpacked and have at most `most_bytes`, and the
 * request ends at `deadline_us`.
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

/*
 * The addresses that a request may reach. Each address is checked after its name was resolved, before the
 * connection.
 */
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
	char secret[128]; /* name of a file below [paths] secrets ("api/demo"), read for each request */
	/* a secret that is only in memory (an OAuth token), instead of a file; borrowed until the end */
	const char *value;
	char name[40];                /* of HEADER */
	char region[32], service[32]; /* of SIGV4 */
};

struct http_request {
	char method[8];
	char url[HTTP_URL_MAX];
	struct buffer headers; /* http_request_header */
	struct buffer body;
	struct http_auth auth;
	char ca[256];        /* file of certificates to trust; "": the system's */
	int64_t deadline_us; /* the whole time that it may take, in boot time; 0: HTTP_DEADLINE_US */
	size_t most_bytes;   /* of the answer's body; 0: HTTP_MOST_BYTES */
	enum http_reach reach;
	/* waits for proceed before the last byte of its body, which must not be empty */
	bool holds;
	const char *wanted[HTTP_WANTED_MAX]; /* names of headers of the answer; constants */
};

/*
 * Fills a request. -EINVAL: the URL does not fit, or method or URL has invalid characters; the request then
 * fails as HTTP_BARRED.
 */
int http_request_init(struct http_request *request, const char *method, const char *url_format, ...)
	__attribute__((format(printf, 3, 4)));
/* -EINVAL: not a token, or a value with control characters; nothing was added. */
int http_request_header(struct http_request *request, const char *name, const char *value);
void http_request_clear(struct http_request *request); /* frees its memory, not the struct itself */

enum http_end {
	HTTP_ANSWERED, /* with any status */
	HTTP_NOT_SENT, /* the server cannot have all of it: it has not happened */
	HTTP_UNKNOWN, /* all of it may have arrived, and no whole answer came: in time, at all, or within `most_bytes` */
	HTTP_BARRED /* never tried, and will fail the same way again: where it goes is not allowed, or its secret is missing */
};

struct http_answer {
	enum http_end end;
	long status;   /* 0: none came */
	bool too_long; /* of UNKNOWN: its body is longer than `most_bytes` */
	bool went;     /* the request's last byte was released before this answer came */
	struct bytes body;
	char words
		[256]; /* what failed; of ANSWERED "HTTP <status>". No address of a person, no secret, nothing of the URL but its host */
	struct {
		const char *name;
		char value[128];
	} headers[HTTP_WANTED_MAX];
};

/* The value of a wanted header; NULL: it is missing, or does not fit. */
const char *http_answer_header(const struct http_answer *answer, const char *name);
/*
 * How long the server asks to wait, in microseconds (Retry-After in seconds, which must be wanted), at most
 * `most_us`; `otherwise_us` if it does not say.
 */
int64_t http_answer_retry_us(const struct http_answer *answer, int64_t otherwise_us, int64_t most_us);

/* ---- an effect driver ---- */

struct http_settings {
	const struct clock *clock;
	const char *secrets; /* folder; copied */
	bool private_too;    /* the admin allows every request to reach as far as HTTP_REACH_ADMIN */
	const char *ca;      /* for requests that name none; NULL: the system's. Copied */
	/*
	 * the kind under which a 429 is counted (metrics_throttled_by), a constant; NULL: it is not counted
	 */
	const char *peer;
	int failures;     /* after this many failures in a row, a host is left alone for ... */
	int64_t pause_us; /* ... this time (boot time), then tried by one request at a time. 0: never */
};
struct http_settings http_settings_of(const struct config *config, const struct clock *clock);
struct http_settings http_settings_of_storefronts(
	const struct config *config, const struct clock *clock); /* reads also [storefront] */

/* Requests: a struct http_request, or what begins with one. Results: struct http_answer. */
struct effect_driver *http_driver_new(const char *name, const struct http_settings *settings);

/* ---- for another driver ---- */

struct http_client;
struct http_call;

/* Called only from http_client_work. They may make, proceed and stop calls. */
struct http_caller {
	/* everything but the last byte is sent and acknowledged */
	void (*held)(void *context, struct http_call *call);
	/*
	 * The boot time of the client's clock until which the held last byte may go; later the call is cut.
	 * NULL: no limit.
	 */
	int64_t (*until_us)(void *context);
	/* the answer is borrowed; the call is freed afterwards */
	void (*done)(void *context, const struct http_answer *answer);
};

struct http_client *http_client_new(const struct http_settings *settings);
/* cuts running calls without their last byte and without done(); takes NULL */
void http_client_free(struct http_client *client);
int http_client_fd(const struct http_client *client); /* readable when work() should be called */
/* work() must be called after this time at the latest; -1: no deadline */
int64_t http_client_wait_us(const struct http_client *client);
void http_client_work(struct http_client *client);

/*
 * Never NULL: a call that cannot be tried ends in http_client_work. `request` and `caller` are borrowed until
 * done or stop.
 */
struct http_call *http_call_new(struct http_client *client, const struct http_request *request,
	const struct http_caller *caller, void *context);
/*
 * After held(): sends the last byte, or cuts the connection without it. It also cuts if the server has hung
 * up or takes nothing more, or if it is too late.
 */
void http_call_proceed(struct http_call *call, bool go);
/* cuts the call at once, without its last byte if that was not sent; done() is not called; takes NULL */
void http_call_stop(struct http_call *call);

#endif
