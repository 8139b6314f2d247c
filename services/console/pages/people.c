/* people.c: who may use the console, with their roles and sessions; `cartbus user` changes them */
#include "services/console/pages/pages.h"
#include "services/console/pages/roles.h"
#include "services/console/visit.h"

extern const struct markup people_markup;

static void note_seen(const struct session *session, bool is_own, void *context)
{
	int64_t *seen_us = context;

	(void)is_own;
	if (session->seen_us > *seen_us)
		*seen_us = session->seen_us;
}

static json_t *person_json(struct visit *visit, const struct person *person)
{
	int64_t seen_us = 0;
	int sessions = session_each(visit->console->sessions, person->name, NULL, note_seen, &seen_us);

	return json_pack("{s:s,s:o,s:I,s:b,s:i}", "name", person->name, "roles", roles_as_text(person), "last_seen_us",
		(json_int_t)seen_us, "totp", person->has_totp, "sessions", sessions);
}

static unsigned query_people(struct page_call *call, json_t *ret)
{
	struct visit *visit = call->visitor;
	json_t *list = json_array();

	for (size_t i = 0; i < people_count(visit->console->people); i++)
		json_array_append_new(list, person_json(visit, people_at(visit->console->people, i)));
	json_object_set_new(ret, "people", list);
	return 0;
}

static unsigned act_end_all(struct page_call *call)
{
	struct visit *visit = call->visitor;

	session_end_person(visit->console->sessions, page_name(call, "name"), NULL, NULL);
	page_then(call, "/people");
	return 0;
}

const struct page people_pages[] = {
	{ "/people", PAGE_READS, RIGHT_PEOPLE, .markup = &people_markup, .query = query_people, .title = "People",
		.menu = PAGE_MENU_OPERATOR },
	{ "/people/<name>/sign-out", PAGE_ACTS, RIGHT_PEOPLE, .again = true, .act = act_end_all },
	{ .path = NULL },
};
