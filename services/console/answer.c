/*
 * answer.c: the answer of a visit, in HTML or JSON
 *
 * Promises:  every answer has the headers that keep a page to itself: no other site may frame it, run a script in it or read it.
 */
#include "bus/base/text.h"
#include "services/console/frame.h"
#include "services/console/visit.h"
#include "services/kit/console/markup.h"
#include <stdio.h>
#include <stdlib.h>

extern const struct markup layout_markup, error_markup;

/*
 * Sources: the Content Security Policy and Trusted Types specifications, OWASP's ASVS 3.4. Referrer-Policy is not "no-referrer": a browser
 * then sends `Origin: null` with our own forms, and origin.c would refuse them.
 */
static const struct http_header guards[] = {
	{ "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
		"frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for "
		"'script'; trusted-types 'none'" },
	{ "Referrer-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "X-Frame-Options", "DENY" },
	{ "Permissions-Policy", "camera=(), microphone=(), geolocation=()" },
	{ "Vary", "Cookie, Sec-Fetch-Site, Origin, Accept" },
	{ NULL, NULL },
};

void answer_dress(struct answer *answer)
{
	for (const struct http_header *guard = guards; guard->name; guard++)
		answer_add(answer, guard->name, guard->value);
}

static const char *place_of_asset(const char *name, void *context)
{
	return asset_place(context, name);
}

/* A form without a name of its own gets a new one. */
static const char *name_form(struct visit *visit)
{
	if (!*visit->call.once)
		text_random_name(visit->call.once);
	return visit->call.once;
}

/* The token of a form that is shown without a session needs a cookie as well. */
static const char *token_of(struct visit *visit)
{
	if (!*visit->session_id) {
		session_new_id(visit->session_id);
		access_set_cookie(visit, visit->session_id, false);
	}
	session_token(visit->console->sessions, visit->session_id, visit->token);
	return visit->token;
}

void visit_reader_of(struct visit *visit, struct markup_reader *ret)
{
	const struct page_call *call = &visit->call;

	*ret = (struct markup_reader){ .locale = call->locale,
		.language = call->language,
		.zone = call->zone,
		.now_us = call->now_us,
		.prefix = visit->console->place.prefix,
		.token = token_of(visit),
		.once = name_form(visit),
		.asset = place_of_asset,
		.context = &visit->console->assets };
}

static void send_cookie(struct visit *visit)
{
	if (*visit->set_cookie)
		answer_add(&visit->asked->answer, "Set-Cookie", visit->set_cookie);
}

static void answer_json(struct visit *visit, unsigned status, const char *type, const json_t *data)
{
	struct answer *answer = &visit->asked->answer;
	char *text = json_dumps(data, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	answer->status = status;
	answer->content_type = type;
	buffer_clear(&answer->body);
	buffer_add_text(&answer->body, text ? text : "{}");
	buffer_add_text(&answer->body, "\n");
	free(text);
	send_cookie(visit);
}

void answer_page(struct visit *visit, unsigned status, const struct markup *markup, const json_t *data)
{
	struct answer *answer = &visit->asked->answer;
	struct markup_reader reader;
	json_t *frame;

	if (visit->wants_json || !markup) {
		answer_json(visit, status, "application/json", data);
		return;
	}
	visit_reader_of(visit, &reader);
	frame = frame_data(visit);
	answer->status = status;
	answer->content_type = "text/html; charset=utf-8";
	buffer_clear(&answer->body);
	markup_html(&layout_markup, frame, markup, data, &reader, &answer->body);
	json_decref(frame);
	send_cookie(visit);
}

static void answer_problem(struct visit *visit, unsigned status, const char *words)
{
	json_t *problem = json_pack("{s:s,s:s,s:i}", "type", "about:blank", "title", words, "status", (int)status);

	answer_json(visit, status, "application/problem+json", problem);
	json_decref(problem);
}

void answer_refusal(struct visit *visit, unsigned status, const char *words)
{
	json_t *data;

	if (visit->wants_json || visit->is_feed) {
		answer_problem(visit, status, words);
		return;
	}
	data = json_pack("{s:i,s:s,s:n}", "status", (int)status, "words", words, "what_to_do");
	answer_page(visit, status, &error_markup, data);
	json_decref(data);
}

void answer_redirect(struct visit *visit, const char *place)
{
	struct answer *answer = &visit->asked->answer;

	snprintf(visit->redirect, sizeof(visit->redirect), "%s%s", visit->console->place.prefix, place);
	answer->status = 303;
	answer->content_type = "text/plain; charset=utf-8";
	answer->location = visit->redirect;
	buffer_clear(&answer->body);
	buffer_add_text(&answer->body, "see the address in Location\n");
	send_cookie(visit);
}
