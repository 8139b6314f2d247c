/*
 * page.h: the pages of the console: one row for each address
 *
 * A system brings a table of rows (services/systems.cmake, the face `pages`), ended by an empty row, and the
 * tables of the folds that its pages read (the face `page_folds`, struct remembers).
 *
 * A page that reads fills a JSON object with raw data: microseconds, minor units, words of its own. `<path>.json`, or a request that
 * accepts application/json, gets this object. A browser gets the row's markup, which formats the same object
 * (markup.h). A page that acts is a form's target. It publishes messages, and the browser is sent to another page when all of them are
 * confirmed.
 *
 * The console judges the session, the right, the shop and the form's token before it calls a function of a row. It answers 404 for a shop
 * that the person may not see, so that nobody learns the names of other shops.
 */
#ifndef KIT_CONSOLE_PAGE_H
#define KIT_CONSOLE_PAGE_H

#include "bus/actor/service.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "services/kit/console/right.h"
#include "services/kit/locale/locale.h"
#include <jansson.h>

struct form;
struct markup;
struct page_call;
struct shop;

enum page_method {
	PAGE_READS = 1, /* GET and HEAD: it changes nothing */
	PAGE_ACTS       /* POST */
};

/* The lists of links on each page. */
enum page_menu { PAGE_MENU_NONE, PAGE_MENU_SHOP, PAGE_MENU_OPERATOR };

struct page {
	/*
	 * A segment in angle brackets has a name, and matches one segment without its escapes. `<shop>` is a shop of this installation.
	 * NULL ends the table.
	 */
	const char *path;
	enum page_method method;
	enum right right;
	bool again; /* the person must have given the password within the last minutes */

	/* Of a page that reads. */
	const struct markup *markup; /* NULL: it answers JSON alone */
	/*
	 * Names a question to the broker, which is asked before `query`; *ret_what is the argument. Its answer is page_call.answer. NULL: the
	 * page asks nothing.
	 */
	const char *(*ask)(struct page_call *call, json_t **ret_what);
	/* Fills `ret`, an empty object. 0, or the status of a refusal, after page_refuse has given the words. */
	unsigned (*query)(struct page_call *call, json_t *ret);
	enum page_menu menu;
	const char *title; /* one English word, which services/console/pages/layout.html translates */
	const char *help;  /* of the handbook: "owner.md#rules" */

	/*
	 * Of a page that acts. 0, or the status of a refusal, as `query`; PAGE_ANSWERED: it answered by itself. Publishes, and names the next
	 * page.
	 */
	unsigned (*act)(struct page_call *call);
};

extern const struct page *const registered_pages[];
extern const struct remembers *const registered_page_folds[];

/* ---- one request for a page ---- */

enum { PAGE_NAMES_MAX = 4, PAGE_SAID_MAX = 4, PAGE_PLACE_MAX = 512, PAGE_ANSWERED = 1 };

/* A message that an act publishes. All strings are copied. */
struct page_said {
	const struct topic *topic;
	char shop[64], key[128];
	uint64_t version;
	char idem[80]; /* "": the form's once */
	struct buffer message;
};

struct page_call {
	const struct page *page;
	int name_count;
	struct page_name {
		char name[24], value[200];
	} names[PAGE_NAMES_MAX];  /* of the path */
	const struct form *query; /* behind the `?` */
	const struct form *form;  /* of an act; NULL for a page that reads */
	char once[40];            /* of an act: names this form, so that it acts once */

	const char *person; /* the name; "": nobody has signed in */
	bool (*may)(const struct page_call *call, enum right right, const char *shop);
	void *visitor;              /* the console's */
	char language[LOCALE_ROOM]; /* of the words, one of those that the catalogues have */
	char locale[LOCALE_ROOM];   /* of numbers, money and days */

	const struct state *state;
	const struct config *config;
	const struct clock *clock;
	int64_t now_us;          /* wall time */
	const char *shop;        /* of the path; SHOP_OF_ALL without one */
	const struct shop *conf; /* its shop.conf in use; NULL: there is none */
	const char *zone;        /* of the shop, else UTC */
	struct bytes key;        /* signs what comes back from a browser, such as the place in a list */
	json_t *answer;          /* the broker's; NULL: it is away, or nothing was asked */

	struct buffer refusal;
	int said_count;
	struct page_said said[PAGE_SAID_MAX];
	char then[PAGE_PLACE_MAX];
};

/* The value of a segment of the path; "" if the row has none of that name. */
const char *page_name(const struct page_call *call, const char *name);
/* A field of the form, or of the query of a page that reads; "" if it is missing. */
const char *page_field(const struct page_call *call, const char *name);
/* Gives the words of a refusal, and returns `status`. */
unsigned page_refuse(struct page_call *call, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool page_may(const struct page_call *call, enum right right); /* of the call's shop */

/*
 * Publishes a message after the act has returned 0. The messages go one after the other, each when the one before is confirmed. Without a
 * key of its own each goes under the form's once, so that a second press of the button, or the same form after a crash, changes
 * nothing. More than PAGE_SAID_MAX, or a message that is too long, is a bug.
 */
void page_publish(
	struct page_call *call, const struct topic *topic, const struct publish_options *how, const void *message);
#define PAGE_SAY(call, topic, message, ...)                                                                            \
	page_publish((call), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                 \
		(const topic_message_##topic *)(message))
/* The page to which the browser is sent after the act: a path and perhaps a query. */
void page_then(struct page_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- for the console ---- */

/*
 * Finds the first row of this method that fits the path, and fills in call->page and the names. false: there is none; *ret_other tells
 * whether another method has one.
 */
bool page_find(const struct page *const *tables, enum page_method method, const char *path, struct page_call *call,
	bool *ret_other);
/* NULL: all rows are valid; else the reason. */
const char *pages_fault(const struct page *const *tables, char ret_why[200]);
void page_call_clear(struct page_call *call); /* frees what it owns */

#endif
