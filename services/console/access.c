/*
 * access.c: who sends a request, and whether they may
 *
 * Promises:  nothing of a request is used before its Host is known to be ours and its Origin to be this page's. A person sees nothing
 *            of a shop without the right to see it, not even that it exists. Rights are asked anew at each request.
 * Read next: origin.h, people/session.h, people/person.h
 */
#include "bus/base/text.h"
#include "services/console/origin.h"
#include "services/console/visit.h"
#include "services/kit/documents/docs.h"
#include <errno.h>
#include <stdio.h>

/* ---- before anything else ---- */

static void take_session(struct visit *visit, bool is_active)
{
	const struct session *session = session_find(visit->console->sessions, visit->session_id, is_active);

	visit->is_known = session != NULL;
	if (session)
		visit->session = *session;
}

/* A feed and a question in the background are no activity: a page that is left open must not keep its session. */
static bool is_activity(const struct visit *visit)
{
	return !visit->is_feed && !request_header(&visit->asked->request, "X-Cartbus-Background");
}

static int read_cookie(struct visit *visit)
{
	struct bytes value;
	int r = request_cookie(&visit->asked->request, visit->console->place.cookie, &value);

	visit->session_id[0] = '\0';
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	text_copy_bytes(visit->session_id, sizeof(visit->session_id), value); /* a longer one is nobody's */
	return 0;
}

unsigned access_judge(struct visit *visit, const char **ret_words)
{
	const struct request *request = &visit->asked->request;
	char origin[CONSOLE_ORIGIN_ROOM];
	unsigned status = console_place_answers(&visit->console->place, request, origin, ret_words);

	if (status)
		return status;
	*ret_words = origin_trouble(request, origin);
	if (*ret_words)
		return 403;
	if (read_cookie(visit) < 0) {
		*ret_words = "the cookie of the session came twice, or cannot be read";
		return 400;
	}
	take_session(visit, is_activity(visit));
	return 0;
}

bool access_token_matches(const struct visit *visit)
{
	const char *token = form_value(&visit->form, "t");

	if (!token)
		token = request_header(&visit->asked->request, "X-Cartbus-Token");
	return token && *visit->session_id && session_token_matches(visit->console->sessions, visit->session_id, token);
}

/* ---- rights ---- */

const struct person *visit_person(const struct visit *visit)
{
	if (!visit->is_known || visit->session.step != SESSION_FULL)
		return NULL;
	return people_find(visit->console->people, visit->session.person);
}

bool access_may(const struct page_call *call, enum right right, const char *shop)
{
	return person_may(visit_person(call->visitor), right, shop);
}

unsigned access_right(const struct visit *visit)
{
	const struct page *row = visit->call.page;
	const struct person *person = visit_person(visit);
	const char *shop = page_name(&visit->call, "shop");

	if (row->right == RIGHT_ANYBODY)
		return 0;
	if (!person)
		return 401;
	if (*shop && (!visit->call.conf || !person_may(person, RIGHT_SEE, shop)))
		return 404;
	if (row->right == RIGHT_SIGNED_IN || person_may(person, row->right, *shop ? shop : NULL))
		return 0;
	return 403;
}

/* ---- the cookie ---- */

void access_set_cookie(struct visit *visit, const char *session_id, bool stays)
{
	static const int64_t stays_s = 30 * 24 * 3600;
	const struct console_place *place = &visit->console->place;
	char age[40] = "";

	if (!*session_id)
		snprintf(age, sizeof(age), "; Max-Age=0");
	else if (stays)
		snprintf(age, sizeof(age), "; Max-Age=%lld", (long long)stays_s);
	snprintf(visit->set_cookie, sizeof(visit->set_cookie), "%s=%s; Path=%s/; HttpOnly; SameSite=Strict%s%s",
		place->cookie, session_id, place->prefix, place->is_secure ? "; Secure" : "", age);
}

/* "Firefox", "Chrome": the first known name in the header; a list of sessions needs no more. */
static const char *browser_of(const struct request *request)
{
	static const char *const names[] = { "Edg", "OPR", "Firefox", "Chrome", "Safari", "curl" };
	const char *agent = request_header(request, "User-Agent");

	for (size_t i = 0; agent && i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(agent, names[i]))
			return names[i];
	return "";
}

struct sign_in_from access_from(const struct visit *visit)
{
	return (struct sign_in_from){ .network = visit->asked->client,
		.origin = { .browser = browser_of(&visit->asked->request) } };
}
