/*
 * google.h: requests to Google's APIs as a service account
 *
 * The account is its key file, as Google's console gives it (JSON), a secret of mode 0600. The file is read
 * when a token is needed, so a new key is used at once, and an installation without Google needs none. A
 * token is requested with a JWT that the key signs (RFC 7523), and is used until a minute before its end. If
 * an API refuses a token (401), it is forgotten, and the next request asks for a new one.
 */
#ifndef KIT_GOOGLE_GOOGLE_H
#define KIT_GOOGLE_GOOGLE_H

#include "bus/base/bytes.h"
#include "services/kit/http/http.h"

#define GOOGLE_SCOPE_SHEETS "https://www.googleapis.com/auth/spreadsheets"

#define GOOGLE_SCOPE_DRIVE "https://www.googleapis.com/auth/drive.readonly"

/* Fill it as for HTTP, except `auth` and `ca`, which google.c sets. */
struct google_request {
	/* must be first; the results are struct http_answer, as those of the HTTP driver */
	struct http_request http;
	const char *scope; /* a constant */
};

struct google_settings {
	struct http_settings http;
	char key_path[512];
};
struct google_settings google_settings_of(
	const struct config *config, const struct clock *clock); /* [google]; may die() */

/*
 * The effect driver "google". A request that gets no token ends as HTTP_NOT_SENT, or as HTTP_BARRED if the
 * next try would get none either.
 */
struct effect_driver *google_driver_new(const struct google_settings *settings);

/* ---- for requests outside of effects ---- */

struct google;
struct google_call;

struct google *google_new(const struct google_settings *settings);
void google_free(struct google *google); /* ends running calls without calling done(); takes NULL */
int google_fd(const struct google *google);
int64_t google_wait_us(const struct google *google);
void google_work(struct google *google);
/* As http_call_new; held() of the caller gets the call for http_call_proceed. */
struct google_call *google_call_new(
	struct google *google, const struct google_request *request, const struct http_caller *caller, void *context);
void google_call_stop(struct google_call *call); /* takes NULL */

/* ---- the answers of Google's token server; for google.c and tests/fuzz ---- */

/*
 * Reads a token and how long it may be used, 0 to an hour. false: the body is no such answer. The caller
 * frees `ret_text`.
 */
bool google_token_read(struct bytes body, char **ret_text, int64_t *ret_lasts_us);
/* Why there is no token, in our words and at most one word of Google's. */
void google_refusal_words(const struct http_answer *answer, char ret[256]);

/* Percent-encodes one segment of a path. false: it does not fit. */
bool google_encode(const char *text, char *ret, size_t room);

/* ---- the key file of a service account, and what it signs; for google.c only ---- */

/*
 * Makes the JWT that asks for a token of this scope at `issued_s` (seconds since 1970), valid for an hour,
 * and the address to ask. A negative errno: ret_why names what is wrong with the file, without quoting its
 * content.
 */
int google_key_sign(const char *path, const char *scope, int64_t issued_s, struct buffer *ret_jwt, char ret_uri[256],
	char ret_why[200]);

#endif
