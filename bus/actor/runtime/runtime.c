/*
 * runtime.c: one service over one link
 *
 * Owns:      the session, the state, the deliveries, the requests, the effects.
 * Promises:  those of runtime.h; and this order of work: hear and fold, end effects that ended, decide, send.
 * Fails by:  going AWAY (it connects again by itself) or REFUSED (the process is to exit).
 * Read next: session.c (the wire), delivery.c (deciding), requests.c (committing), effects.c (the world)
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Credit: how much may be under way to this process beyond the finished messages. Below the mailbox's mark
 * (wire/zmq_link.c) even with one message per frame.
 */
enum {
	WINDOW_DELIVERIES = 256,
	WINDOW_DELIVERY_BYTES = 4 << 20,
	WINDOW_PROJECTIONS = 2048,
	WINDOW_PROJECTION_BYTES = 8 << 20,
	EFFECTS_MOST_DEFAULT = 64,
};
enum { LARGE_ROWS_AT_ONCE = 10 };
static const int64_t LARGE_ROW_EVERY_US = US_PER_MINUTE;
static const int64_t FLUSH_EVERY_US = 1 * US_PER_S;
static const int64_t CLOCK_OFF_US = US_PER_MINUTE; /* two clocks that are kept agree far better */
static const int64_t GATEWAY_PROMISE_US = 1500 * US_PER_MS;

/* --- credit --- */

static UpCredit grantable(const struct runtime *runtime)
{
	const UpCredit *used = &runtime->credit.now, *window = &runtime->credit.window;

	return (UpCredit){ .delivery_messages = used->delivery_messages + window->delivery_messages,
		.delivery_bytes = used->delivery_bytes + window->delivery_bytes,
		.projection_messages = used->projection_messages + window->projection_messages,
		.projection_bytes = used->projection_bytes + window->projection_bytes };
}

static void grant(struct runtime *runtime)
{
	Up up = { .which_what = Up_credit_tag };

	up.what.credit = runtime->credit.granted = grantable(runtime);
	session_add(runtime->session, &up, BYTES("", 0), false);
}

/* Grants more when a quarter of a window is free again; the heartbeat repeats the totals anyway. */
static void grant_when_due(struct runtime *runtime)
{
	UpCredit now = grantable(runtime);
	const UpCredit *told = &runtime->credit.granted, *window = &runtime->credit.window;

	if (now.delivery_messages - told->delivery_messages >= window->delivery_messages / 4 ||
		now.delivery_bytes - told->delivery_bytes >= window->delivery_bytes / 4 ||
		now.projection_messages - told->projection_messages >= window->projection_messages / 4 ||
		now.projection_bytes - told->projection_bytes >= window->projection_bytes / 4)
		grant(runtime);
}

/* --- callbacks of the session --- */

static void on_hello(void *self, Hello *hello)
{
	struct runtime *runtime = self;

	TEXT_COPY(hello->log, state_log_id(runtime->state));
	hello->remembered = state_remembered(runtime->state);
	hello->opening = state_opening(runtime->state);
	hello->cursor = state_cursor(runtime->state);
	hello->spooled = runtime->spooled;
	effects_held(runtime, hello);
}

/*
 * The upper half counts openings; two openings of the same count differ if they are of two copies of the log.
 */
static bool is_older(uint64_t opening, uint64_t known)
{
	return opening >> 32 == known >> 32 ? opening != known : opening < known;
}

/* The broker checks this too; but a broker that has lost its memory may have lost that as well. */
static bool on_recognise(void *self, const Welcome *welcome, char why[256])
{
	struct runtime *runtime = self;
	const char *known = state_log_id(runtime->state);
	unsigned long long remembered = state_remembered(runtime->state);

	if (known[0] && strcmp(known, welcome->log) != 0)
		snprintf(why, 256,
			"the broker's log is %.32s, the state here belongs to log %.32s: if that is meant (restored, "
			"or begun anew), " FOLDED_ANEW("the state folder of %.32s"),
			welcome->log, known, runtime->instance);
	else if (known[0] && (welcome->head < remembered || is_older(welcome->opening, state_opening(runtime->state))))
		snprintf(why, 256,
			"the broker has forgotten: its log ends at message %llu, and message %llu of it was confirmed; "
			"put its newest state folder back",
			(unsigned long long)welcome->head, remembered);
	else
		return true;
	return false;
}

/*
 * This machine's clock judges deadlines, quiet hours and times of mails; the broker's clock gives the log's
 * times.
 */
static void tell_clock(const struct runtime *runtime, const Welcome *welcome)
{
	int64_t off_us = clock_wall_us(runtime->clock) - welcome->wall_us;

	if (welcome->wall_us == 0 || runtime->clock->rate != 1 || llabs(off_us) < CLOCK_OFF_US)
		return;
	log_event(LOG_ERROR,
		"the clock of this host is %lld s %s the log's: set it right, or the broker's (timedatectl); until "
		"then what goes by the clock is early or late by so much",
		(long long)((llabs(off_us) + US_PER_S / 2) / US_PER_S), off_us > 0 ? "ahead of" : "behind");
}

static void on_opened(void *self, const Welcome *welcome)
{
	struct runtime *runtime = self;

	tell_clock(runtime, welcome);
	runtime->counts.sessions++;
	runtime->counting.at_us = 0;
	runtime->must_pass = welcome->head;
	state_meet(runtime->state, welcome->log, welcome->opening, welcome->head);
	runtime->credit.now = (UpCredit){ 0 };
	grant(runtime);
	requests_again(runtime);
}

static void drop_questions(struct runtime *runtime, const char *why)
{
	while (!list_empty(&runtime->questions.open)) {
		struct question *question = LIST_ENTRY(runtime->questions.open.next, struct question, hook);

		list_remove(&question->hook);
		question->answer(question->context, false, why, false);
		buffer_free(&question->text);
		free(question);
	}
}

static void on_lost(void *self, const char *why)
{
	struct runtime *runtime = self;

	deliveries_drop(runtime);
	requests_lost(runtime);
	effects_lost(runtime);
	drop_questions(runtime, why);
}

static void on_rebuild(void *self)
{
	struct runtime *runtime = self;

	if (state_forget(runtime->state) < 0)
		die("the folded state cannot be emptied: check the disk");
}

static void on_heartbeat(void *self, Heartbeat *heartbeat)
{
	struct runtime *runtime = self;

	heartbeat->spooled = runtime->spooled;
	heartbeat->has_credit = true;
	heartbeat->credit = runtime->credit.granted = grantable(runtime);
	metrics_in_heartbeat(runtime, heartbeat);
}

static void pass(struct runtime *runtime, uint64_t seq)
{
	state_pass(runtime->state, seq);
	if (!list_empty(&runtime->requests.returning))
		requests_passed(runtime);
}

void runtime_tell_large_row(struct runtime *runtime, const char *what, const char *why)
{
	runtime->counts.rows_refused++;
	if (rate_limit_take(&runtime->of_large_rows, boot_us(runtime), LARGE_ROW_EVERY_US, LARGE_ROWS_AT_ONCE))
		log_event(LOG_ERROR, "%s: %s. What was there before stays", what, why);
}

/*
 * A payload that does not decode changes nothing. A fold that would make a row too large leaves the row as it
 * was, and folding goes on.
 */
static void fold(struct runtime *runtime, const struct message_meta *said, struct bytes payload)
{
	char what[80], why[TURN_REASON_MAX];

	if (strcmp(said->topic, TOPIC_FORGOTTEN) == 0)
		state_hear_forgotten(runtime->state, payload);
	else
		table_fold(runtime->table, runtime->state, said, payload);
	if (!state_take_refused(runtime->state, 0, why, sizeof(why)))
		return;
	snprintf(what, sizeof(what), "message %llu of %s was not folded", (unsigned long long)said->seq, said->topic);
	runtime_tell_large_row(runtime, what, why);
}

static void hear_projection(struct runtime *runtime, const Projection *head, struct bytes message)
{
	Envelope envelope;
	struct bytes payload;

	runtime->credit.now.projection_messages++;
	runtime->credit.now.projection_bytes += message.len;
	if (head->seq <= state_cursor(runtime->state))
		return;
	if (message_read(message, &envelope, &payload) == 0) {
		struct message_meta said = said_from(&envelope, head->seq, head->time_us, head->said_by);

		begin_task(runtime, TASK_FOLD, head->seq);
		state_write_projected(runtime->state);
		fold(runtime, &said, payload);
		state_write_turn(runtime->state, runtime->turns + 1);
		runtime->counts.folded++;
		begin_task(runtime, TASK_LOOP, 0);
	}
	pass(runtime, head->seq);
	if (state_wants_flush(runtime->state) && state_flush(runtime->state) < 0)
		die("the folded state cannot be written: check the disk");
}

static void on_item(void *self, const Down *item, struct bytes body)
{
	struct runtime *runtime = self;

	switch (item->which_what) {
	case Down_delivery_tag:
		delivery_hear(runtime, &item->what.delivery, body);
		break;
	case Down_projection_tag:
		hear_projection(runtime, &item->what.projection, body);
		break;
	case Down_progress_tag:
		pass(runtime, item->what.progress.seq);
		break;
	case Down_confirm_tag:
		requests_confirm(runtime, &item->what.confirm);
		break;
	}
}

static struct question *find_question(struct runtime *runtime, uint64_t id)
{
	LIST_EACH (hook, &runtime->questions.open) {
		struct question *question = LIST_ENTRY(hook, struct question, hook);

		if (question->id == id)
			return question;
	}
	return NULL;
}

static void on_answer(void *self, const Answer *answer)
{
	struct question *question = find_question(self, answer->id);

	if (!question)
		return;
	buffer_add_text(&question->text, answer->text);
	if (answer->more)
		return;
	list_remove(&question->hook);
	question->answer(question->context, answer->ok, buffer_text(&question->text), false);
	buffer_free(&question->text);
	free(question);
}

/* --- life --- */

static void set_window(struct runtime *runtime)
{
	bool has_effects = runtime->service->effects != NULL;

	runtime->credit.window = (UpCredit){
		/*
		 * Effects are slow: a message that would only wait here is better off with another instance.
		 */
		.delivery_messages = has_effects ? 2 * (uint64_t)runtime->effects.most : WINDOW_DELIVERIES,
		.delivery_bytes = WINDOW_DELIVERY_BYTES,
		.projection_messages = WINDOW_PROJECTIONS,
		.projection_bytes = WINDOW_PROJECTION_BYTES,
	};
}

int runtime_new(const struct service *service, const struct runtime_settings *settings, struct link *link,
	struct store **store, const struct clock *clock, struct effect_driver *const *drivers, struct runtime **ret)
{
	struct runtime *runtime = memory_new(sizeof(*runtime));
	const struct session_owner owner = { .self = runtime,
		.hello = on_hello,
		.recognise = on_recognise,
		.opened = on_opened,
		.lost = on_lost,
		.rebuild = on_rebuild,
		.item = on_item,
		.heartbeat = on_heartbeat,
		.answer = on_answer };

	assert(!service->next_due_us || service->exclusive); /* two instances would fire twice */
	runtime->service = service;
	runtime->clock = clock;
	runtime->monotonic_wall = monotonic_wall_new(clock, 0);
	runtime->began_us = monotonic_wall_us(&runtime->monotonic_wall);
	runtime->effects.drivers = drivers;
	runtime->activity = settings->activity ? settings->activity : &runtime->unwatched;
	TEXT_COPY(runtime->instance, settings->instance);
	runtime->counting.memory_bytes = settings->memory_bytes;
	if (settings->run)
		TEXT_COPY(runtime->run, settings->run);
	else
		text_random_name(runtime->run);
	runtime->effects.most = settings->effects_most > 0 ? settings->effects_most : EFFECTS_MOST_DEFAULT;
	runtime->flush_every_us = settings->flush_us > 0 ? settings->flush_us : FLUSH_EVERY_US;
	runtime->gateway_promise_us =
		settings->gateway_promise_us > 0 ? settings->gateway_promise_us : GATEWAY_PROMISE_US;
	set_window(runtime);
	runtime->deliveries.pool = (struct pool){ .size = sizeof(struct delivery), .room = DELIVERY_SMALL };
	runtime->requests.pool.size = sizeof(struct publish_request);
	list_init(&runtime->deliveries.waiting);
	list_init(&runtime->requests.unconfirmed);
	list_init(&runtime->requests.returning);
	list_init(&runtime->questions.open);
	list_init(&runtime->effects.all);
	runtime->table = table_new(service);
	runtime->state = state_new(store);
	assert(!settings->context.service || settings->context.service == service);
	state_set_context(runtime->state, service, settings->context.context);
	if ((state_is_unmarked(runtime->state) && state_forget(runtime->state) < 0) ||
		state_lay_out(runtime->state, service->layout) < 0)
		die("the folded state of an older program cannot be emptied: check the disk");
	state_write_turn(runtime->state, 1);
	runtime->session = session_new(service, settings, runtime->run, link, clock, &owner);
	runtime->effects.notes = service->unused ? settings->notes : NULL;
	runtime->trace.tell = settings->tell;
	notes_publish_unused(runtime);
	*ret = runtime;
	return 0;
}

void runtime_free(struct runtime *runtime)
{
	if (!runtime)
		return;
	effects_free(runtime);
	deliveries_drop(runtime);
	requests_free(runtime);
	session_free(runtime->session);
	state_free(runtime->state);
	table_free(runtime->table);
	pool_free(&runtime->deliveries.pool);
	pool_free(&runtime->requests.pool);
	free(runtime);
}

void runtime_goodbye(struct runtime *runtime)
{
	session_goodbye(runtime->session);
	if (state_flush(runtime->state) < 0)
		die("the folded state cannot be written: check the disk");
}

static void flush(struct runtime *runtime)
{
	int64_t now = boot_us(runtime);

	if (state_is_clean(runtime->state) && !state_is_sweeping(runtime->state)) {
		runtime->flush_at_us = 0;
		return;
	}
	if (runtime->flush_at_us == 0)
		runtime->flush_at_us = now + runtime->flush_every_us;
	if (now < runtime->flush_at_us)
		return;
	if (state_flush(runtime->state) < 0 || state_sweep(runtime->state) < 0)
		die("the folded state cannot be written: check the disk");
	runtime->flush_at_us = state_is_sweeping(runtime->state) ? now + runtime->flush_every_us : 0;
}

static void lesser(int64_t *wait_us, int64_t other_us)
{
	if (other_us < *wait_us)
		*wait_us = other_us;
}

static int64_t wait_us(const struct runtime *runtime)
{
	int64_t wait = session_wait_us(runtime->session);

	lesser(&wait, clock_wait_us(runtime));
	lesser(&wait, deliveries_wait_us(runtime));
	lesser(&wait, effects_wait_us(runtime));
	if (runtime->flush_at_us > 0)
		lesser(&wait, runtime->flush_at_us > boot_us(runtime) ? runtime->flush_at_us - boot_us(runtime) : 0);
	return wait;
}

int64_t runtime_work(struct runtime *runtime)
{
	runtime->heard_us = boot_us(runtime);
	runtime->clock_turn.due_is_known = false;
	monotonic_wall_look(&runtime->monotonic_wall);
	session_hear(runtime->session);
	effects_work(runtime);
	if (session_is_open(runtime->session)) {
		if (!runtime->draining) {
			deliveries_decide(runtime);
			clock_decide(runtime);
		}
		effects_work(runtime); /* effects of the turns just decided start at once */
		deliveries_renew(runtime);
		grant_when_due(runtime);
	}
	session_send(runtime->session);
	flush(runtime);
	return wait_us(runtime);
}

void runtime_drain(struct runtime *runtime)
{
	runtime->draining = true;
	effects_lost(runtime); /* as if the session had broken: effects that went go on, others are let go */
}

bool runtime_drained(const struct runtime *runtime)
{
	return list_empty(&runtime->effects.all) && list_empty(&runtime->requests.unconfirmed);
}

enum runtime_phase runtime_phase(const struct runtime *runtime)
{
	enum runtime_phase phase = session_phase(runtime->session);

	return phase == RUNTIME_CATCHING_UP && runtime_passed(runtime, runtime->must_pass) ? RUNTIME_READY : phase;
}

const char *runtime_why(const struct runtime *runtime)
{
	return session_why(runtime->session);
}

const struct state *runtime_state(const struct runtime *runtime)
{
	return runtime->state;
}

const char *runtime_instance(const struct runtime *runtime)
{
	return runtime->instance;
}

/* --- saying and asking unprompted --- */

int runtime_publish_encoded(struct runtime *runtime, struct bytes message, said_fn *answer, void *context)
{
	struct publish_request *request;

	if (!session_is_open(runtime->session))
		return -ENOTCONN;
	if (message.len > MESSAGE_BYTES_MAX)
		return -EMSGSIZE;
	request = request_new(runtime, REQUEST_SAY);
	request->answer = answer;
	request->context = context;
	trace_log_note(runtime, request, message, 0);
	request_publish(runtime, request, message);
	return 0;
}

int runtime_publish(struct runtime *runtime, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message, said_fn *answer, void *context)
{
	_cleanup_(buffer_free) struct buffer encoded = { 0 };
	int r = message_encode(topic, how, trace, clock_wall_us(runtime->clock), message, &encoded);

	return r < 0 ? r : runtime_publish_encoded(runtime, buffer_bytes(&encoded), answer, context);
}

int runtime_ask(struct runtime *runtime, const char *verb, const char *argument, answer_fn *answer, void *context)
{
	_cleanup_free_ Question *asked = memory_new(sizeof(*asked));
	struct question *question;

	asked->id = ++runtime->questions.numbers;
	if (!TEXT_COPY(asked->verb, verb) || !TEXT_COPY(asked->argument, argument))
		return -EMSGSIZE;
	if (!session_is_open(runtime->session) || session_ask(runtime->session, asked) < 0)
		return -ENOTCONN;
	question = memory_new(sizeof(*question));
	*question = (struct question){ .id = asked->id, .answer = answer, .context = context };
	list_append(&runtime->questions.open, &question->hook);
	return 0;
}

/* --- a gateway's spool --- */

void runtime_spooled(struct runtime *runtime, uint64_t messages)
{
	if ((messages > 0) != (runtime->spooled > 0))
		session_beat_soon(runtime->session);
	runtime->spooled = messages;
}

/* The broker waits for no gateway that it never met; and it must have stopped relying on this one. */
bool runtime_may_spool(const struct runtime *runtime)
{
	return state_log_id(runtime->state)[0] &&
		boot_us(runtime) - session_echoed_us(runtime->session) >= runtime->gateway_promise_us;
}
