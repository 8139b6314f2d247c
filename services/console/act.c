/*
 * act.c: publishes the messages of an act, each when the one before is confirmed
 *
 * Owns:      the messages of acts that are under way, also when their browser is gone.
 * Promises:  an audit is confirmed before the act that it is about. A message that a broken session left open is published again with the same
 *            key, so it is in the log once. An act that was begun goes on without its browser, as long as a browser would wait.
 * Fails by:  ACT_REFUSED with the broker's words; ACT_UNKNOWN when the broker is away for longer than a browser waits.
 */
#include "services/console/act.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdlib.h>

static const int64_t patience_us = 8 * US_PER_S, again_us = 100 * US_PER_MS;

struct asking {
	struct console *console;
	struct visit *visit; /* NULL: the client is gone */
	struct list hook;    /* of console's askings */
	int count, next;
	struct page_said said[PAGE_SAID_MAX];
	bool is_question;
	bool is_out; /* a message or a question is with the broker */
	bool was_done_before;
	int64_t until_us; /* boot time */
};

static void forget(struct asking *asking)
{
	list_remove(&asking->hook);
	if (asking->visit)
		asking->visit->asking = NULL;
	for (int i = 0; i < asking->count; i++)
		buffer_free(&asking->said[i].message);
	free(asking);
}

static struct asking *asking_new(struct visit *visit)
{
	struct asking *asking = memory_new(sizeof(*asking));

	asking->console = visit->console;
	asking->visit = visit;
	asking->until_us = clock_boot_us(visit->console->clock) + patience_us;
	list_append(&visit->console->askings, &asking->hook);
	visit->asking = asking;
	return asking;
}

static void end(struct asking *asking, enum act_end end, const char *why)
{
	struct visit *visit = asking->visit;
	bool was_done_before = asking->was_done_before;

	forget(asking);
	if (visit)
		visit_acted(visit, end, was_done_before, why);
}

static void publish_next(struct asking *asking);

static void on_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct asking *asking = context;

	(void)seq;
	asking->is_out = false;
	asking->was_done_before |= result == SAID_DUPLICATE;
	switch (result) {
	case SAID_DUPLICATE:
	case SAID_FRESH:
		asking->next++;
		publish_next(asking);
		return;
	case SAID_REFUSED:
		end(asking, ACT_REFUSED, reason);
		return;
	case SAID_UNKNOWN:
		return; /* act_work publishes it again */
	}
}

static void publish_next(struct asking *asking)
{
	if (asking->next == asking->count) {
		end(asking, ACT_DONE, "");
		return;
	}
	asking->is_out = true;
	if (runtime_publish_encoded(
		    asking->console->runtime, buffer_bytes(&asking->said[asking->next].message), on_said, asking) < 0)
		asking->is_out = false;
}

void act_begin(struct visit *visit)
{
	struct asking *asking = asking_new(visit);

	asking->count = visit->call.said_count;
	memcpy(asking->said, visit->call.said, sizeof(asking->said));
	visit->call.said_count = 0;
	publish_next(asking);
}

/* ---- questions ---- */

static void on_answer(void *context, bool ok, const char *text, bool more)
{
	struct asking *asking = context;
	struct visit *visit = asking->visit;

	(void)more;
	if (!ok)
		log_event(LOG_WARNING, "the broker does not answer a page's question: %s", text);
	if (visit)
		visit->call.answer = ok ? json_loads(text, 0, NULL) : NULL;
	forget(asking);
	if (visit)
		visit_answered(visit);
}

bool act_ask(struct visit *visit, const char *verb, json_t *what)
{
	_cleanup_free_ char *argument = json_dumps(what, JSON_COMPACT);
	struct asking *asking = asking_new(visit);

	json_decref(what);
	asking->is_question = true;
	asking->is_out = true;
	if (argument && runtime_ask(visit->console->runtime, verb, argument, on_answer, asking) == 0)
		return true;
	forget(asking);
	return false;
}

/* ---- in the loop ---- */

void act_leave(struct visit *visit)
{
	if (visit->asking)
		visit->asking->visit = NULL;
	visit->asking = NULL;
}

/* The broker has it and does not answer: the browser is told so, and the answer is for nobody. */
static void give_up(struct asking *asking)
{
	struct visit *visit = asking->visit;

	if (!visit)
		return;
	act_leave(visit);
	if (asking->is_question)
		visit_answered(visit);
	else
		visit_acted(visit, ACT_UNKNOWN, false, "it has the message and does not answer");
}

int64_t act_work(struct console *console)
{
	int64_t now_us = clock_boot_us(console->clock);
	int64_t wait_us = -1;

	LIST_EACH_SAFE (hook, &console->askings) {
		struct asking *asking = LIST_ENTRY(hook, struct asking, hook);

		wait_us = again_us;
		if (now_us > asking->until_us && asking->is_out)
			give_up(asking);
		else if (now_us > asking->until_us)
			end(asking, ACT_UNKNOWN, runtime_why(console->runtime));
		else if (!asking->is_out && runtime_phase(console->runtime) == RUNTIME_READY)
			publish_next(asking);
	}
	return wait_us;
}

void act_stop(struct console *console)
{
	LIST_EACH_SAFE (hook, &console->askings)
		forget(LIST_ENTRY(hook, struct asking, hook));
}
