/*
 * visit.h: one request of a browser, from its head to its answer
 *
 * The server makes a visit when it has read a head, and frees it when the answer is sent or the client is gone. The steps: who asks
 * (access.c), which row takes it (services/kit/console/page.h), the form, the right, then the query or the act, and the answer
 * (answer.c).
 */
#ifndef CONSOLE_VISIT_H
#define CONSOLE_VISIT_H

#include "services/console/console.h"
#include "services/kit/console/page.h"
#include "services/kit/web/form.h"

enum { VISIT_PATH_ROOM = 1024, VISIT_COOKIE_ROOM = 200 };

struct asking;
struct feed;
struct markup_reader;

struct visit {
	struct console *console;
	struct web_request *asked;
	struct page_call call;
	struct form query, form;
	bool wants_json;
	char path[VISIT_PATH_ROOM];       /* without the prefix of public-url and without ".json" */
	char session_id[SESSION_ID_ROOM]; /* of the cookie; "": none */
	bool is_known;                    /* `session` is set */
	struct session session;           /* a copy */
	char person[PERSON_NAME_ROOM];    /* a copy, since an act may change the people */
	char set_cookie[VISIT_COOKIE_ROOM];
	char token[SESSION_TOKEN_ROOM];
	char redirect[PAGE_PLACE_MAX + CONSOLE_PREFIX_ROOM];
	struct asking *asking; /* waits for the broker; NULL: it does not */
	bool is_feed;
	struct feed *feed; /* feeds.c; NULL: it is none, or has ended */
};

/* The functions of web.h's owner; `context` is the console. */
void visit_begin(void *context, struct web_request *asked);
bool visit_judge_head(void *context, struct web_request *asked);
bool visit_decide(void *context, struct web_request *asked);
void visit_dress(void *context, struct web_request *asked);
void visit_end(void *context, struct web_request *asked);

/* The person; NULL: nobody has signed in, or the session is not whole yet. */
const struct person *visit_person(const struct visit *visit);
/* Runs the query of a page that asks the broker nothing. 0, or the status of a refusal. */
unsigned visit_query(struct visit *visit, json_t *ret);
void visit_reader_of(struct visit *visit, struct markup_reader *ret);

/* ---- access.c: who asks, and whether they may ---- */

/* Judges host, origin and cookie. 0, or the status of a refusal; *ret_words gives the reason. */
unsigned access_judge(struct visit *visit, const char **ret_words);
/* Judges the form's token. false: it is not of this session. */
bool access_token_matches(const struct visit *visit);
/* Judges the row's right for the shop of the path. 0; 401: nobody has signed in; 403; 404: the shop is hidden from them, or is none. */
unsigned access_right(const struct visit *visit);
bool access_may(const struct page_call *call, enum right right, const char *shop); /* of page_call.may */
/* The browser gets this session's id as a cookie; "" takes the cookie away. */
void access_set_cookie(struct visit *visit, const char *session_id, bool stays);
/* The network and the browser, for the list of sessions and the throttle. */
struct sign_in_from access_from(const struct visit *visit);

/* ---- answer.c: the answer, in HTML or JSON ---- */

void answer_page(struct visit *visit, unsigned status, const struct markup *markup, const json_t *data);
/* A refusal in the same form: problem+json of RFC 9457, or a page with the words. */
void answer_refusal(struct visit *visit, unsigned status, const char *words);
void answer_redirect(struct visit *visit, const char *place); /* 303 to a path of ours */
void answer_dress(struct answer *answer);                     /* adds the headers of every answer */

#endif
