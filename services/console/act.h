/* act.h: carries out what a person's form asks for, message by message, and asks the broker */
#ifndef CONSOLE_ACT_H
#define CONSOLE_ACT_H

#include "services/console/visit.h"

/* The messages of visit->call go one after the other; then visit_acted is called, if the client is still there. */
void act_begin(struct visit *visit);
/* Asks the broker; visit_answered is called with call.answer. false: it is away. */
bool act_ask(struct visit *visit, const char *verb, json_t *what);
/* The client is gone: what was begun goes on, and nobody is answered. */
void act_leave(struct visit *visit);
/* Sends again what a broken session left open, and gives up what has waited too long. Returns after how many us to call again; -1. */
int64_t act_work(struct console *console);
void act_stop(struct console *console); /* frees what waits */

enum act_end {
	ACT_DONE,
	ACT_REFUSED, /* the broker refused a message for good: `why` */
	ACT_UNKNOWN  /* no answer came: it may have been done */
};
void visit_acted(struct visit *visit, enum act_end end, bool was_done_before, const char *why);
void visit_answered(struct visit *visit);

#endif
