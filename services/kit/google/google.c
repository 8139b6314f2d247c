/*
 * google.c: sends requests to Google's APIs, each with a token that is fetched before
 *
 * Owns:      the running calls, and a token for each scope, in memory only.
 * Promises:  a request goes out with a new token, or with one that is valid for another minute. The words
 *            about a failure have no part of a token or key.
 * Fails by:  the answer: HTTP_BARRED if the key file or the account cannot be used, HTTP_NOT_SENT if no token
 *            came.
 * Read next: key.c (signs the request for a token), calls.h, http.h
 */
#include "services/kit/google/google.h"
#include "bus/base/cleanup.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/calls.h"
#include "services/kit/keys/secrets.h"
#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

enum { SCOPES_MAX = 4, TOKEN_LASTS_MOST_S = 3600 };
#define TOKEN_SPARE_US US_PER_MINUTE
#define GRANT "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="

struct token {
	const char *scope;
	char *text;       /* NULL: none */
	int64_t until_us; /* boot time */
};

struct google {
	struct google_settings settings;
	struct http_client *client;
	const struct clock *clock;
	struct token tokens[SCOPES_MAX];
	struct list calls;
};

struct google_call {
	struct list hook;
	struct google *google;
	const struct google_request *request;
	const struct http_caller *caller;
	void *context;
	struct http_request asks; /* the request for the token; owned */
	struct http_request real; /* borrows all but the token */
	char *token;
	struct http_call *call; /* NULL: the request cannot be tried; google_work() ends the call */
	char why[256];
};

struct google_settings google_settings_of(const struct config *config, const struct clock *clock)
{
	struct google_settings settings = { .http = http_settings_of(config, clock) };
	const char *name = config_get(config, "google", NULL, "key"), *ca = config_get(config, "google", NULL, "ca");
	char path[256];

	secret_path(config, name && *name ? name : "google.json", path);
	TEXT_COPY(settings.key_path, path);
	settings.http.ca = ca && *ca ? ca : NULL;
	settings.http.peer = "google";
	return settings;
}

bool google_encode(const char *text, char *ret, size_t room)
{
	char *encoded = curl_easy_escape(NULL, text, 0);
	bool fits = encoded && text_copy(ret, room, encoded);

	curl_free(encoded);
	return fits;
}

/* ---- tokens ---- */

static void forget_token(struct token *token)
{
	free(token->text);
	token->text = NULL;
}

/* Scopes beyond SCOPES_MAX share the last place. */
static struct token *token_of(struct google *google, const char *scope)
{
	struct token *token = google->tokens, *last = token + SCOPES_MAX - 1;

	while (token < last && token->scope && strcmp(token->scope, scope) != 0)
		token++;
	if (token->scope && strcmp(token->scope, scope) != 0)
		forget_token(token);
	token->scope = scope;
	return token;
}

bool google_token_read(struct bytes body, char **ret_text, int64_t *ret_lasts_us)
{
	_cleanup_(json_decrefp) json_t *answer = json_loadb(body.len ? body.data : "", body.len, 0, NULL);
	const char *text = json_string_value(json_object_get(answer, "access_token"));
	json_int_t lasts_s = json_integer_value(json_object_get(answer, "expires_in"));

	if (!text || !*text || text_has_control(text))
		return false;
	if (lasts_s < 0 || lasts_s > TOKEN_LASTS_MOST_S)
		lasts_s = TOKEN_LASTS_MOST_S;
	*ret_text = memory_copy_text(text);
	*ret_lasts_us = lasts_s * US_PER_S;
	return true;
}

static bool keep_token(struct google *google, const char *scope, struct bytes body)
{
	struct token *token = token_of(google, scope);
	int64_t lasts_us;
	char *text;

	if (!google_token_read(body, &text, &lasts_us))
		return false;
	forget_token(token);
	token->text = text;
	token->until_us = clock_boot_us(google->clock) + lasts_us - TOKEN_SPARE_US;
	return true;
}

/* ---- the ends ---- */

static void call_free(struct google_call *call)
{
	list_remove(&call->hook);
	http_request_clear(&call->asks);
	free(call->token);
	free(call);
}

static void end(struct google_call *call, const struct http_answer *answer)
{
	const struct http_caller *caller = call->caller;
	void *context = call->context;

	call_free(call);
	caller->done(context, answer);
}

static void end_untried(struct google_call *call, enum http_end how, const char *words)
{
	struct http_answer answer = { .end = how };

	TEXT_COPY(answer.words, words);
	end(call, &answer);
}

/* ---- the request ---- */

static void real_held(void *context, struct http_call *http)
{
	struct google_call *call = context;

	call->caller->held(call->context, http);
}

static int64_t real_until_us(void *context)
{
	const struct google_call *call = context;

	return call->caller->until_us ? call->caller->until_us(call->context) : INT64_MAX;
}

static void real_done(void *context, const struct http_answer *answer)
{
	struct google_call *call = context;
	struct token *token = token_of(call->google, call->request->scope);

	if (answer->status == 401 && token->text && strcmp(token->text, call->token) == 0)
		forget_token(token);
	end(call, answer);
}

static const struct http_caller real_caller = { .held = real_held, .until_us = real_until_us, .done = real_done };

static void ask(struct google_call *call)
{
	call->token = memory_copy_text(token_of(call->google, call->request->scope)->text);
	call->real = call->request->http;
	call->real.auth = (struct http_auth){ .kind = HTTP_AUTH_BEARER, .value = call->token };
	call->call = http_call_new(call->google->client, &call->real, &real_caller, call);
}

/* ---- the token before it ---- */

/* The error is one word (RFC 6749, 5.2); the rest of the body is not repeated. */
void google_refusal_words(const struct http_answer *answer, char ret[256])
{
	_cleanup_(json_decrefp) json_t *body =
		json_loadb(answer->body.len ? answer->body.data : "", answer->body.len, 0, NULL);
	const char *error = json_string_value(json_object_get(body, "error"));
	bool is_word = error && strspn(error, "abcdefghijklmnopqrstuvwxyz_") == strlen(error);

	snprintf(ret, 256, "no token for the service account: %.150s%s%.40s", answer->words, is_word ? " " : "",
		is_word ? error : "");
}

static void token_done(void *context, const struct http_answer *answer)
{
	struct google_call *call = context;
	bool is_good = answer->end == HTTP_ANSWERED && answer->status == 200;
	bool is_final = answer->end == HTTP_BARRED ||
		(answer->end == HTTP_ANSWERED && answer->status >= 300 && answer->status < 500 &&
			answer->status != 408 && answer->status != 429);
	char words[256];

	call->call = NULL;
	if (is_good && keep_token(call->google, call->request->scope, answer->body)) {
		ask(call);
		return;
	}
	google_refusal_words(answer, words);
	end_untried(call, is_final ? HTTP_BARRED : HTTP_NOT_SENT, words);
}

static const struct http_caller token_caller = { .done = token_done };

static void ask_token(struct google_call *call)
{
	_cleanup_(buffer_free) struct buffer jwt = { 0 };
	const struct clock real = clock_system(); /* not a demo's clock: Google compares it with its own */
	const char *path = call->google->settings.key_path;
	char uri[256], why[200];

	int r = google_key_sign(path, call->request->scope, clock_wall_us(&real) / US_PER_S, &jwt, uri, why);
	if (r < 0) {
		snprintf(call->why, sizeof(call->why), "%.100s: %.60s%s", path, why,
			r == -EBADMSG ? ": put the key file of the service account there"
				      : ": the key file of the service account belongs there (chmod 600)");
		return;
	}
	http_request_init(&call->asks, "POST", "%s", uri);
	http_request_header(&call->asks, "Content-Type", "application/x-www-form-urlencoded");
	buffer_add_text(&call->asks.body, GRANT);
	buffer_add(&call->asks.body, jwt.data, jwt.len);
	call->asks.reach = HTTP_REACH_ADMIN;
	call->call = http_call_new(call->google->client, &call->asks, &token_caller, call);
}

struct google_call *google_call_new(
	struct google *google, const struct google_request *request, const struct http_caller *caller, void *context)
{
	struct google_call *call = memory_new(sizeof(*call));
	const struct token *token = token_of(google, request->scope);

	*call = (struct google_call){ .google = google, .request = request, .caller = caller, .context = context };
	list_append(&google->calls, &call->hook);
	if (token->text && clock_boot_us(google->clock) < token->until_us)
		ask(call);
	else
		ask_token(call);
	return call;
}

void google_call_stop(struct google_call *call)
{
	if (!call)
		return;
	http_call_stop(call->call);
	call_free(call);
}

/* ---- the client ---- */

struct google *google_new(const struct google_settings *settings)
{
	struct google *google = memory_new(sizeof(*google));

	google->settings = *settings;
	google->clock = settings->http.clock;
	google->client = http_client_new(&settings->http);
	list_init(&google->calls);
	return google;
}

void google_free(struct google *google)
{
	if (!google)
		return;
	http_client_free(google->client);
	while (!list_empty(&google->calls))
		call_free(LIST_ENTRY(google->calls.next, struct google_call, hook));
	for (int i = 0; i < SCOPES_MAX; i++)
		forget_token(&google->tokens[i]);
	free(google);
}

int google_fd(const struct google *google)
{
	return http_client_fd(google->client);
}

static struct google_call *first_untried(const struct google *google)
{
	LIST_EACH (hook, &google->calls) {
		struct google_call *call = LIST_ENTRY(hook, struct google_call, hook);
		if (!call->call)
			return call;
	}
	return NULL;
}

int64_t google_wait_us(const struct google *google)
{
	return first_untried(google) ? 0 : http_client_wait_us(google->client);
}

void google_work(struct google *google)
{
	struct google_call *call;
	char words[256];

	while ((call = first_untried(google))) {
		TEXT_COPY(words, call->why);
		end_untried(call, HTTP_BARRED, words);
	}
	http_client_work(google->client);
}

/* --- requests to Google as effects --- */

static void *begin(void *client, const void *request, const struct http_caller *caller, void *context)
{
	return google_call_new(client, request, caller, context);
}

static void stop(void *call)
{
	google_call_stop(call);
}

static int client_fd(const void *client)
{
	return google_fd(client);
}

static int64_t client_wait_us(const void *client)
{
	return google_wait_us(client);
}

static void client_work(void *client)
{
	google_work(client);
}

static void client_free(void *client)
{
	google_free(client);
}

static const struct call_way google_calls = { begin, stop, client_fd, client_wait_us, client_work, client_free };

struct effect_driver *google_driver_new(const struct google_settings *settings)
{
	struct calls *calls = memory_new(sizeof(*calls));
	calls_init(calls, "google", &google_calls, google_new(settings));
	return &calls->driver;
}
