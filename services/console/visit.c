/*
 * visit.c: one request of a browser, from its head to its answer
 *
 * Promises:  the order is: host and origin, cookie, row, form and token, right, proof; only then a query or an act runs. An act's form is
 *            never answered with a redirect to the sign-in: what was typed would be lost.
 * Fails by:  400, 401, 403, 404, 405, 409, 413, 415, 421, 422 and 503 in words, as a page or as problem+json.
 * Read next: access.c, act.c, answer.c, feeds.c
 */
#include "services/console/visit.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/console/act.h"
#include "services/console/feeds.h"
#include "services/console/frame.h"
#include "services/kit/documents/docs.h"
#include <stdio.h>
#include <stdlib.h>

static const char json_ending[] = ".json", live_path[] = "/live";

/* ---- from the beginning to the end ---- */

static struct visit *visit_new(struct console *console, struct web_request *asked)
{
	struct visit *visit = memory_new(sizeof(*visit));

	visit->console = console;
	visit->asked = asked;
	visit->call = (struct page_call){ .person = "",
		.may = access_may,
		.visitor = visit,
		.state = runtime_state(console->runtime),
		.config = console->config,
		.clock = console->clock,
		.now_us = clock_wall_us(console->clock),
		.shop = SHOP_OF_ALL,
		.zone = "UTC",
		.key = buffer_bytes(&console->key) };
	return visit;
}

static void visit_free(struct visit *visit)
{
	if (!visit)
		return;
	act_leave(visit);
	page_call_clear(&visit->call);
	form_free(&visit->query);
	form_free(&visit->form);
	free(visit);
}

void visit_begin(void *context, struct web_request *asked)
{
	asked->own = visit_new(context, asked);
	asked->body_most = CONSOLE_FORM_MOST;
}

void visit_end(void *context, struct web_request *asked)
{
	struct visit *visit = asked->own;

	(void)context;
	if (visit->is_feed)
		feeds_leave(visit);
	visit_free(visit);
}

void visit_dress(void *context, struct web_request *asked)
{
	(void)context;
	asked->answer.proven |= visit_person(asked->own) != NULL; /* its cost does not count against its network */
	answer_dress(&asked->answer);
}

/* ---- the head ---- */

static bool refuse(struct visit *visit, unsigned status, const char *words)
{
	answer_refusal(visit, status, words);
	return false;
}

/* Takes the prefix of public-url from the front and ".json" from the end. false: it is no path of ours. */
static bool take_path(struct visit *visit)
{
	const char *path = visit->asked->request.path, *prefix = visit->console->place.prefix;
	size_t len;

	if (!text_starts(path, prefix) || !TEXT_COPY(visit->path, path + strlen(prefix)) || visit->path[0] != '/')
		return false;
	len = strlen(visit->path);
	if (len > strlen(json_ending) && strcmp(visit->path + len - strlen(json_ending), json_ending) == 0) {
		visit->wants_json = true;
		visit->path[len - strlen(json_ending)] = '\0';
	}
	return true;
}

static bool accepts_json(const struct request *request)
{
	const char *accept = request_header(request, "Accept");

	return accept && strstr(accept, "application/json") && !strstr(accept, "text/html");
}

static bool is_post(const struct request *request)
{
	return strcmp(request->method, "POST") == 0;
}

static bool is_read(const struct request *request)
{
	return strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
}

static bool answer_asset(struct visit *visit)
{
	static const struct http_header kept[] = { { "Cache-Control", "public, max-age=31536000, immutable" },
		{ NULL, NULL } };
	struct answer *answer = &visit->asked->answer;
	const char *type;
	const struct asset *asset = asset_at(&visit->console->assets, visit->path, &type);

	if (!asset)
		return false;
	answer->status = 200;
	answer->content_type = type;
	answer->more = kept;
	buffer_add(&answer->body, asset->content, asset->len);
	return true;
}

static void choose_shop(struct visit *visit)
{
	struct page_call *call = &visit->call;

	if (!*page_name(call, "shop"))
		return;
	call->shop = page_name(call, "shop");
	call->conf = docs_shop(call->state, call->shop);
	call->zone = call->conf ? call->conf->zone : "UTC";
}

static bool find_row(struct visit *visit, const char *path, enum page_method method)
{
	bool other;

	if (!page_find(registered_pages, method, path, &visit->call, &other)) {
		visit->asked->answer.allow = other ? (method == PAGE_ACTS ? "GET, HEAD" : "POST") : NULL;
		return refuse(visit, other ? 405 : 404,
			other ? "this address takes another method" : "there is no such page");
	}
	choose_shop(visit);
	return true;
}

static bool read_query(struct visit *visit)
{
	const char *query = visit->asked->request.query;

	return form_read(bytes_of(query ? query : ""), &visit->query) == 0;
}

/* Of a feed the query names the page, with the page's own query behind it. */
static bool judge_feed(struct visit *visit)
{
	const char *of = form_value(&visit->query, "of");
	char path[VISIT_PATH_ROOM];
	char *query;

	if (!of || !TEXT_COPY(path, of))
		return refuse(visit, 400, "a feed is about a page: ?of=PATH");
	query = strchr(path, '?');
	if (query)
		*query++ = '\0';
	form_free(&visit->query);
	if (form_read(bytes_of(query ? query : ""), &visit->query) < 0 || !find_row(visit, path, PAGE_READS))
		return visit->asked->answer.status ? false : refuse(visit, 400, "the page's query cannot be read");
	return true;
}

static unsigned judge_reader(struct visit *visit)
{
	const struct person *person = visit_person(visit);

	TEXT_COPY(visit->person, person ? person->name : "");
	visit->call.person = visit->person;
	frame_choose_locale(visit, person);
	return access_right(visit);
}

/* The sign-in page comes back to where the person wanted to go. */
static bool refuse_right(struct visit *visit, unsigned status)
{
	char place[PAGE_PLACE_MAX];

	if (status != 401 || visit->wants_json || !is_read(&visit->asked->request) || visit->is_feed)
		return refuse(visit, status,
			status == 401 ? "you have to sign in first"
				: status == 404
				? "there is no such page"
				: "your role does not allow this: an admin can change it (cartbus user role)");
	snprintf(place, sizeof(place), "/sign-in?to=%.400s", visit->path);
	answer_redirect(visit, place);
	return false;
}

bool visit_judge_head(void *context, struct web_request *asked)
{
	struct visit *visit = asked->own;
	const struct request *request = &asked->request;
	const char *words = "";
	unsigned status;

	(void)context;
	if (!take_path(visit))
		return refuse(visit, 404, "there is no such page");
	visit->wants_json |= accepts_json(request);
	visit->is_feed = strcmp(visit->path, live_path) == 0;
	visit->call.query = &visit->query;
	status = access_judge(visit, &words);
	if (status)
		return refuse(visit, status, words);
	if (!is_read(request) && !is_post(request)) {
		asked->answer.allow = "GET, HEAD, POST";
		return refuse(visit, 405, "this address takes another method");
	}
	if (is_read(request) && answer_asset(visit))
		return false;
	if (!read_query(visit))
		return refuse(visit, 400, "the address has a query that cannot be read");
	if (visit->is_feed ? !judge_feed(visit)
			   : !find_row(visit, visit->path, is_post(request) ? PAGE_ACTS : PAGE_READS))
		return false;
	status = judge_reader(visit);
	/* what was posted is read first, so that a page can show it again */
	if (status && (status != 401 || !is_post(request)))
		return refuse_right(visit, status);
	return true;
}

/* ---- a page that reads ---- */

unsigned visit_query(struct visit *visit, json_t *ret)
{
	return visit->call.page->query(&visit->call, ret);
}

static void answer_query(struct visit *visit)
{
	json_t *data = json_object();
	unsigned status = visit_query(visit, data);

	if (status)
		answer_refusal(visit, status, buffer_text(&visit->call.refusal));
	else
		answer_page(visit, 200, visit->call.page->markup, data);
	json_decref(data);
}

void visit_answered(struct visit *visit)
{
	answer_query(visit);
	web_answer(visit->asked);
}

/* true: the answer is complete. */
static bool read_page(struct visit *visit)
{
	json_t *what = NULL;
	const char *verb = visit->call.page->ask ? visit->call.page->ask(&visit->call, &what) : NULL;

	if (verb && act_ask(visit, verb, what))
		return false;
	answer_query(visit);
	return true;
}

/* ---- a page that acts ---- */

static bool read_form(struct visit *visit)
{
	static const char form_type[] = "application/x-www-form-urlencoded";
	const char *type = request_header(&visit->asked->request, "Content-Type");
	const char *once;

	if (!type || strncasecmp(type, form_type, strlen(form_type)) != 0) {
		answer_refusal(visit, 415, "a form of a page is expected: application/x-www-form-urlencoded");
		return false;
	}
	if (form_read(visit->asked->request.body, &visit->form) < 0) {
		answer_refusal(visit, 400, "the form cannot be read");
		return false;
	}
	visit->call.form = &visit->form;
	once = page_field(&visit->call, "once");
	if (!TEXT_COPY(visit->call.once, once) || once[strspn(once, "0123456789abcdef-")]) {
		answer_refusal(visit, 400, "the form has no valid name");
		return false;
	}
	return true;
}

/* false: the answer is complete. */
static bool judge_form(struct visit *visit)
{
	unsigned status = access_right(visit);

	if (status) {
		frame_answer_kept(visit, 401, FRAME_SIGN_IN);
		return false;
	}
	if (!access_token_matches(visit)) {
		frame_answer_kept(visit, 403, FRAME_STALE);
		return false;
	}
	if (visit->call.page->again && !frame_prove(visit))
		return false;
	return true;
}

/* true: the answer is complete. */
static bool act(struct visit *visit)
{
	unsigned status;

	if (!read_form(visit) || !judge_form(visit))
		return true;
	status = visit->call.page->act(&visit->call);
	if (status == PAGE_ANSWERED)
		return true;
	if (status) {
		answer_refusal(visit, status, buffer_text(&visit->call.refusal));
		return true;
	}
	if (visit->call.said_count == 0) {
		answer_redirect(visit, visit->call.then);
		return true;
	}
	act_begin(visit);
	return false;
}

void visit_acted(struct visit *visit, enum act_end end, bool was_done_before, const char *why)
{
	char place[PAGE_PLACE_MAX + 64];

	switch (end) {
	case ACT_DONE:
		snprintf(place, sizeof(place), "%s%s%s=%s", visit->call.then, strchr(visit->call.then, '?') ? "&" : "?",
			was_done_before ? "before" : "done", visit->call.once);
		answer_redirect(visit, place);
		break;
	case ACT_REFUSED:
		answer_refusal(visit, 409, why);
		break;
	case ACT_UNKNOWN:
		frame_answer_kept(visit, 503, FRAME_AWAY);
		break;
	}
	web_answer(visit->asked);
}

bool visit_decide(void *context, struct web_request *asked)
{
	struct visit *visit = asked->own;

	(void)context;
	if (visit->is_feed)
		return feeds_begin(visit);
	return visit->call.page->method == PAGE_ACTS ? act(visit) : read_page(visit);
}
