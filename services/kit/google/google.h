/*
 * google.h: requests to Google's APIs as a service account
 *
 * The account is its key file, as Google's console gives it (JSON), a secret of mode 0600. It is read when a token is needed, so a
 * new one counts at once and an installation without Google needs none. A token is asked for with a JWT that the key signs (RFC 7523)
 * and used until a minute before its end; one that an API no longer takes (401) is forgotten, and the next request asks for a new one.
 */
#ifndef KIT_GOOGLE_GOOGLE_H
#define KIT_GOOGLE_GOOGLE_H

#include "bus/base/bytes.h"
#include "services/kit/http/http.h"

#define GOOGLE_SCOPE_SHEETS "https://www.googleapis.com/auth/spreadsheets"

#define GOOGLE_SCOPE_DRIVE "https://www.googleapis.com/auth/drive.readonly"

/* Filled as for HTTP, but for `auth` and `ca`, which are ours. */
struct google_request {
	struct http_request http; /* first: a driver's results are struct http_answer, as the HTTP driver's */
	const char *scope;        /* a constant */
};

struct google_settings {
	struct http_settings http;
	char key_path[512];
};
struct google_settings google_settings_of(
	const struct config *config, const struct clock *clock); /* [google]; may die() */

/* The effect driver "google". What gets no token ends as HTTP_NOT_SENT, or HTTP_BARRED when it will not get one the next time either. */
struct effect_driver *google_driver_new(const struct google_settings *settings);

/* ---- for what is no effect ---- */

struct google;
struct google_call;

struct google *google_new(const struct google_settings *settings);
void google_free(struct google *google); /* nobody is told of what still runs; takes NULL */
int google_fd(const struct google *google);
int64_t google_wait_us(const struct google *google);
void google_work(struct google *google);
/* As http_call_new, with its callers; their held() gets the call that http_call_proceed takes. */
struct google_call *google_call_new(
	struct google *google, const struct google_request *request, const struct http_caller *caller, void *context);
void google_call_stop(struct google_call *call); /* takes NULL */

/* ---- what Google's token server answers; for google.c and tests/fuzz ---- */

/* A token and for how long it may be used, 0 to an hour. false: the body is no such answer. `ret_text` is the caller's. */
bool google_token_read(struct bytes body, char **ret_text, int64_t *ret_lasts_us);
/* Why there is no token, in words of ours and at most one of theirs. */
void google_refusal_words(const struct http_answer *answer, char ret[256]);

/* One segment of a path, percent-encoded. false: it does not fit. */
bool google_encode(const char *text, char *ret, size_t room);

/* ---- the key file of a service account, and what it signs; for google.c only ---- */

/*
 * The JWT by which a token of this scope is asked for at `issued_s`, good for an hour, and whom to ask. -errno: ret_why names what is
 * wrong with the file, and nothing that stands in it.
 */
int google_key_sign(const char *path, const char *scope, int64_t issued_s, struct buffer *ret_jwt, char ret_uri[256],
	char ret_why[200]);

#endif
