/*
 * me.c: a person's own sessions, password and second factor
 *
 * Promises:  everybody sees and ends only their own sessions. A new password ends the others.
 */
#include "bus/base/text.h"
#include "services/console/pages/pages.h"
#include "services/console/pages/roles.h"
#include "services/console/visit.h"

extern const struct markup me_markup;

static void add_session(const struct session *session, bool is_own, void *context)
{
	json_array_append_new(context,
		json_pack("{s:s,s:I,s:I,s:s,s:s,s:b}", "id", session->short_id, "made_us", (json_int_t)session->made_us,
			"seen_us", (json_int_t)session->seen_us, "browser", session->browser, "network",
			session->network, "here", is_own));
}

static unsigned query_me(struct page_call *call, json_t *ret)
{
	struct visit *visit = call->visitor;
	const struct person *person = visit_person(visit);
	json_t *sessions = json_array();

	session_each(visit->console->sessions, call->person, visit->session_id, add_session, sessions);
	json_object_set_new(ret, "person", json_string(call->person));
	json_object_set_new(ret, "totp", json_boolean(person->has_totp));
	json_object_set_new(ret, "roles", roles_as_text(person));
	json_object_set_new(ret, "sessions", sessions);
	return 0;
}

static unsigned act_end(struct page_call *call)
{
	struct visit *visit = call->visitor;

	if (session_end_short(visit->console->sessions, call->person, page_name(call, "session")) < 0)
		return page_refuse(call, 404, "there is no such session any more");
	page_then(call, "/me");
	return 0;
}

static unsigned act_password(struct page_call *call)
{
	struct visit *visit = call->visitor;
	struct sign_in_answer answer;

	sign_in_new_password(
		&visit->console->sign_in, visit->session_id, bytes_of(page_field(call, "password")), &answer);
	if (answer.verdict == SIGN_IN_UNFIT)
		return page_refuse(call, 422, "this password cannot be used: %s", password_fault_words(answer.fault));
	if (answer.verdict != SIGN_IN_DONE)
		return page_refuse(call, 403, "the password was not changed: %s", answer.why);
	access_set_cookie(visit, answer.id, visit->session.stays);
	page_then(call, "/me");
	return 0;
}

const struct page me_pages[] = {
	{ "/me", PAGE_READS, RIGHT_SIGNED_IN, .markup = &me_markup, .query = query_me, .title = "You" },
	{ "/me/sessions/<session>/end", PAGE_ACTS, RIGHT_SIGNED_IN, .act = act_end },
	{ "/me/password", PAGE_ACTS, RIGHT_SIGNED_IN, .again = true, .act = act_password },
	{ .path = NULL },
};
