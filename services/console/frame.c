/*
 * frame.c: what is around every page
 *
 * Promises:  a menu shows only what its reader may open. A page that answers a form which was not carried out holds every field that came.
 */
#include "services/console/frame.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/console/status.h"
#include "services/kit/console/markup.h"
#include "services/kit/documents/docs.h"
#include "services/kit/shop/mode.h"
#include <stdio.h>

extern const struct markup kept_markup;

/* ---- language ---- */

void frame_choose_locale(struct visit *visit, const struct person *person)
{
	static const char *const offered[] = { "en", "de", NULL };
	const char *accept = request_header(&visit->asked->request, "Accept-Language");
	const char *shop = visit->call.conf ? visit->call.conf->locale : "en";
	const char *words = person && *person->locale ? person->locale : "";

	TEXT_COPY(visit->call.language, language_choose(*words ? words : accept, shop, offered));
	locale_blend(visit->call.language, *words ? words : shop, visit->call.locale);
}

/* ---- menus ---- */

/* "/s/<shop>/carts" with the shop's name in it. */
static void place_in_shop(const char *path, const char *shop, char ret[PAGE_PLACE_MAX])
{
	const char *name = strstr(path, "<shop>");

	if (name)
		snprintf(ret, PAGE_PLACE_MAX, "%.*s%s%s", (int)(name - path), path, shop, name + strlen("<shop>"));
	else
		snprintf(ret, PAGE_PLACE_MAX, "%s", path);
}

static json_t *menu_of(const struct visit *visit, enum page_menu menu)
{
	const struct page_call *call = &visit->call;
	json_t *items = json_array();

	for (const struct page *const *table = registered_pages; *table; table++)
		for (const struct page *row = *table; row->path; row++) {
			char place[PAGE_PLACE_MAX];

			if (row->menu != menu ||
				!call->may(call, row->right, menu == PAGE_MENU_SHOP ? call->shop : NULL))
				continue;
			place_in_shop(row->path, call->shop, place);
			json_array_append_new(items,
				json_pack("{s:s,s:s,s:b}", "path", place, "words", row->title, "here",
					strcmp(place, visit->path) == 0));
		}
	return items;
}

/* ---- shops ---- */

struct shops {
	const struct visit *visit;
	json_t *list;
};

static void add_shop(const char *name, void *context)
{
	struct shops *shops = context;
	const struct page_call *call = &shops->visit->call;
	const struct shop *conf = docs_shop(call->state, name);

	if (!conf || !call->may(call, RIGHT_SEE, name))
		return;
	json_array_append_new(shops->list,
		json_pack("{s:s,s:s,s:b}", "shop", name, "title", conf->title, "here", strcmp(name, call->shop) == 0));
}

json_t *frame_shops(const struct visit *visit)
{
	struct shops shops = { visit, json_array() };

	STATE_EACH_SHOP(visit->call.state, documents, add_shop, &shops);
	return shops.list;
}

/* ---- bars ---- */

static json_t *flash_of(const struct visit *visit)
{
	const char *done = form_value(&visit->query, "done"), *before = form_value(&visit->query, "before");
	const char *once = done ? done : before;

	if (!once)
		return json_null();
	return json_pack("{s:s,s:I}", "kind", before ? "note" : "done", "seq",
		(json_int_t)console_done(visit->call.state, once));
}

static const char *mode_of(const struct visit *visit)
{
	ShopStatus status;

	if (status_all_stopped(visit->call.state, &status))
		return "stopped";
	status_mode(visit->call.state, visit->call.shop, &status);
	return mode_name(status.mode);
}

static void add_about_shop(const struct visit *visit, json_t *frame)
{
	const struct page_call *call = &visit->call;

	if (!call->conf || !*call->person)
		return;
	json_object_set_new(frame, "shop", json_string(call->shop));
	json_object_set_new(frame, "shop_title", json_string(call->conf->title));
	json_object_set_new(frame, "mode", json_string(mode_of(visit)));
	json_object_set_new(frame, "menu", menu_of(visit, PAGE_MENU_SHOP));
	json_object_set_new(frame, "stop",
		json_pack("{s:b,s:b}", "can", call->may(call, RIGHT_MODE, call->shop), "stopped",
			strcmp(mode_of(visit), "paused") == 0 || strcmp(mode_of(visit), "stopped") == 0));
}

static void add_live(const struct visit *visit, json_t *frame)
{
	const char *query = visit->asked->request.query;
	char live[VISIT_PATH_ROOM + 600];

	snprintf(live, sizeof(live), "/live?of=%s%s%.500s", visit->path, query ? "%3F" : "", query ? query : "");
	json_object_set_new(frame, "live", json_string(live));
	json_object_set_new(frame, "build", json_string(visit->console->assets.build));
}

json_t *frame_data(const struct visit *visit)
{
	const struct page_call *call = &visit->call;
	const struct page *row = call->page;
	json_t *frame = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:b,s:s,s:s,s:s}", "title",
		row && row->title ? row->title : "cartbus", "here", visit->path, "person", call->person, "zone",
		call->zone, "zone_words", call->zone, "as_of_us", (json_int_t)call->now_us, "insecure",
		!visit->console->place.is_secure, "lang", call->language, "dir",
		locale_is_rtl(call->language) ? "rtl" : "ltr", "theme", "");

	json_object_set_new(frame, "away_since_us",
		visit->console->away_since_us ? json_integer((json_int_t)visit->console->away_since_us) : json_null());
	json_object_set_new(frame, "flash", flash_of(visit));
	if (*call->person) {
		json_object_set_new(frame, "shops", frame_shops(visit));
		json_object_set_new(frame, "operator_menu", menu_of(visit, PAGE_MENU_OPERATOR));
		add_live(visit, frame);
	}
	add_about_shop(visit, frame);
	return frame;
}

/* ---- pages that keep what was typed ---- */

static bool is_kept(const char *name)
{
	static const char *const own[] = { "t", "once", "proof", "password" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(name, own[i]) == 0)
			return false;
	return true;
}

static json_t *kept_fields(const struct form *form)
{
	json_t *fields = json_array();

	for (int i = 0; i < form->count; i++)
		if (is_kept(form->fields[i].name))
			json_array_append_new(fields,
				json_pack("{s:s,s:s}", "name", form->fields[i].name, "value", form->fields[i].value));
	return fields;
}

void frame_answer_kept(struct visit *visit, unsigned status, enum frame_kept kept)
{
	static const char *const words[] = { [FRAME_SIGN_IN] = "sign-in",
		[FRAME_STALE] = "stale",
		[FRAME_PROVE] = "prove",
		[FRAME_AWAY] = "away",
		[FRAME_CONFIRM] = "confirm" };
	json_t *data = json_pack("{s:s,s:o,s:s}", "kind", words[kept], "fields", kept_fields(&visit->form), "person",
		visit->is_known ? visit->session.person : "");

	if (kept != FRAME_AWAY)
		visit->call.once[0] = '\0'; /* a new form; one that may have been carried out keeps its name */
	answer_page(visit, status, &kept_markup, data);
	json_decref(data);
}

bool frame_prove(struct visit *visit)
{
	const char *proof = form_value(&visit->form, "proof");
	struct sign_in_from from = access_from(visit);
	struct sign_in_answer answer;

	if (session_is_fresh(visit->console->sessions, &visit->session))
		return true;
	if (proof) {
		sign_in_again(&visit->console->sign_in, &from, visit->session_id, bytes_of(proof), &answer);
		if (answer.verdict == SIGN_IN_DONE) {
			access_set_cookie(visit, answer.id, visit->session.stays);
			TEXT_COPY(visit->session_id, answer.id);
			return true;
		}
	}
	frame_answer_kept(visit, proof ? 403 : 401, FRAME_PROVE);
	return false;
}
