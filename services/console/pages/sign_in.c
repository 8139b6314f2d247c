/*
 * sign_in.c: the pages by which a person comes in and leaves
 *
 * Promises:  the same words and the same time for a name that is unknown and a password that is wrong. A link's token comes in a form: a GET
 *            never spends it. After the sign-in only a path of ours is gone to.
 * Read next: people/sign_in.h
 */
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/console/frame.h"
#include "services/console/pages/pages.h"
#include "services/console/visit.h"
#include "services/kit/locale/locale.h"
#include <stdio.h>

extern const struct markup sign_in_markup, code_markup, factor_markup, enter_markup, recovery_markup;

/* ---- where to go then ---- */

static bool is_ours(const char *place)
{
	return place[0] == '/' && place[1] != '/' && place[1] != '\\' && !text_has_control(place) &&
		strlen(place) < 400;
}

static const char *wanted_place(const struct page_call *call)
{
	const char *to = page_field(call, "to");

	return is_ours(to) ? to : "/";
}

/* ---- answers ---- */

static json_t *data_of(const struct page_call *call, const struct sign_in_answer *answer)
{
	static const char *const words[] = { [SIGN_IN_DONE] = "",
		[SIGN_IN_CODE] = "",
		[SIGN_IN_ENROL] = "",
		[SIGN_IN_WRONG] = "wrong",
		[SIGN_IN_WAIT] = "wait",
		[SIGN_IN_ENDED] = "ended",
		[SIGN_IN_UNFIT] = "unfit",
		[SIGN_IN_FAILED] = "failed" };
	const char *why = answer && answer->verdict == SIGN_IN_UNFIT && answer->fault
		? password_fault_words(answer->fault)
		: answer ? answer->why
			 : "";

	return json_pack("{s:s,s:s,s:s,s:I,s:s}", "to", wanted_place(call), "name", page_field(call, "name"), "wrong",
		answer ? words[answer->verdict] : "", "wait_s",
		(json_int_t)(answer ? (answer->wait_us + US_PER_S - 1) / US_PER_S : 0), "why", why);
}

static unsigned show_again(struct page_call *call, const struct markup *markup, const struct sign_in_answer *answer)
{
	struct visit *visit = call->visitor;
	json_t *data = data_of(call, answer);
	unsigned status = answer->verdict == SIGN_IN_WAIT ? 429 : answer->verdict == SIGN_IN_FAILED ? 503 : 403;

	log_event(LOG_NOTICE, "sign-in refused: %s", json_string_value(json_object_get(data, "wrong")));
	answer_page(visit, status, markup, data);
	json_decref(data);
	return PAGE_ANSWERED;
}

static void let_in(struct page_call *call, const struct sign_in_answer *answer)
{
	struct visit *visit = call->visitor;

	access_set_cookie(visit, answer->id, *page_field(call, "stay") != '\0');
	switch (answer->verdict) {
	case SIGN_IN_CODE:
		page_then(call, "/sign-in/code?to=%s", wanted_place(call));
		return;
	case SIGN_IN_ENROL:
		page_then(call, "/sign-in/factor");
		return;
	default:
		log_event(LOG_NOTICE, "%s signed in", answer->person);
		page_then(call, "%s", wanted_place(call));
	}
}

static unsigned go_on(struct page_call *call, const struct markup *markup, const struct sign_in_answer *answer)
{
	if (answer->verdict != SIGN_IN_DONE && answer->verdict != SIGN_IN_CODE && answer->verdict != SIGN_IN_ENROL)
		return show_again(call, markup, answer);
	let_in(call, answer);
	return 0;
}

static unsigned query_form(struct page_call *call, json_t *ret)
{
	json_t *data = data_of(call, NULL);

	json_object_update(ret, data);
	json_decref(data);
	return 0;
}

/* ---- name and password ---- */

static unsigned act_sign_in(struct page_call *call)
{
	struct visit *visit = call->visitor;
	struct sign_in_from from = access_from(visit);
	struct sign_in_answer answer;

	from.origin.stays = *page_field(call, "stay") != '\0';
	sign_in_try(&visit->console->sign_in, &from, page_field(call, "name"), bytes_of(page_field(call, "password")),
		&answer);
	return go_on(call, &sign_in_markup, &answer);
}

static unsigned act_code(struct page_call *call)
{
	struct visit *visit = call->visitor;
	struct sign_in_from from = access_from(visit);
	struct sign_in_answer answer;

	sign_in_code(&visit->console->sign_in, &from, visit->session_id, page_field(call, "code"), &answer);
	return go_on(call, answer.verdict == SIGN_IN_ENDED ? &sign_in_markup : &code_markup, &answer);
}

/* ---- a one-time link ---- */

static unsigned act_enter(struct page_call *call)
{
	struct visit *visit = call->visitor;
	struct sign_in_from from = access_from(visit);
	struct sign_in_answer answer;

	sign_in_by_link(&visit->console->sign_in, &from, page_field(call, "token"), page_field(call, "name"),
		bytes_of(page_field(call, "password")), &answer);
	return go_on(call, &enter_markup, &answer);
}

/* ---- the second factor is set up ---- */

static unsigned query_factor(struct page_call *call, json_t *ret)
{
	const struct visit *visit = call->visitor;
	uint8_t secret[PERSON_TOTP_LEN];
	char text[TOTP_BASE32_ROOM], uri[TOTP_URI_ROOM], hex[2 * PERSON_TOTP_LEN + 1];

	if (!visit->is_known)
		return page_refuse(call, 401, "you have to sign in first");
	totp_secret_new(secret);
	totp_base32(secret, text);
	totp_uri(secret, visit->console->place.host, visit->session.person, uri);
	text_hex(secret, sizeof(secret), hex);
	json_object_set_new(ret, "secret", json_string(text));
	json_object_set_new(ret, "uri", json_string(uri));
	json_object_set_new(ret, "factor", json_string(hex));
	json_object_set_new(ret, "wrong", json_string(""));
	return 0;
}

static unsigned act_factor(struct page_call *call)
{
	struct visit *visit = call->visitor;
	char codes[PERSON_RECOVERY_CODES][RECOVERY_CODE_ROOM];
	uint8_t secret[PERSON_TOTP_LEN];
	struct sign_in_answer answer;
	json_t *data, *list;

	if (!text_unhex(page_field(call, "factor"), secret, sizeof(secret)))
		return page_refuse(call, 400, "the form has no secret of a second factor");
	sign_in_enrol(&visit->console->sign_in, visit->session_id, secret, page_field(call, "code"), codes, &answer);
	if (answer.verdict != SIGN_IN_DONE)
		return page_refuse(call, 403,
			"this code is not the one of the new second factor: set it up again; this machine's clock must be right");
	access_set_cookie(visit, answer.id, false);
	list = json_array();
	for (int i = 0; i < PERSON_RECOVERY_CODES; i++)
		json_array_append_new(list, json_pack("{s:s}", "code", codes[i]));
	data = json_pack("{s:o}", "codes", list);
	answer_page(visit, 200, &recovery_markup, data);
	json_decref(data);
	return PAGE_ANSWERED;
}

/* ---- out ---- */

static unsigned act_sign_out(struct page_call *call)
{
	struct visit *visit = call->visitor;

	session_end(visit->console->sessions, visit->session_id);
	access_set_cookie(visit, "", false);
	page_then(call, "/sign-in");
	return 0;
}

const struct page sign_in_pages[] = {
	{ "/sign-in", PAGE_READS, RIGHT_ANYBODY, .markup = &sign_in_markup, .query = query_form, .title = "Sign in" },
	{ "/sign-in", PAGE_ACTS, RIGHT_ANYBODY, .act = act_sign_in },
	{ "/sign-in/code", PAGE_READS, RIGHT_ANYBODY, .markup = &code_markup, .query = query_form, .title = "Sign in" },
	{ "/sign-in/code", PAGE_ACTS, RIGHT_ANYBODY, .act = act_code },
	{ "/sign-in/factor", PAGE_READS, RIGHT_ANYBODY, .markup = &factor_markup, .query = query_factor,
		.title = "Second factor" },
	{ "/sign-in/factor", PAGE_ACTS, RIGHT_ANYBODY, .act = act_factor },
	{ "/enter", PAGE_READS, RIGHT_ANYBODY, .markup = &enter_markup, .query = query_form, .title = "Enter" },
	{ "/enter", PAGE_ACTS, RIGHT_ANYBODY, .act = act_enter },
	{ "/sign-out", PAGE_ACTS, RIGHT_SIGNED_IN, .act = act_sign_out },
	{ .path = NULL },
};
