/* test_calls.c: what becomes of effects that are calls: over a client that only notes what it is asked */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/calls.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the runtime's side ---- */

struct effect {
	int claims, ends;
	enum http_end end;
	char words[160];
};

void effect_claim(struct effect *effect)
{
	effect->claims++;
}

bool effect_may_go(const struct effect *effect)
{
	(void)effect;
	return true;
}

int64_t effect_until_us(const struct effect *effect)
{
	return effect->claims ? 77 : 0;
}

void effect_done(struct effect *effect, const void *result)
{
	const struct http_answer *answer = result;

	effect->ends++;
	effect->end = answer->end;
	TEXT_COPY(effect->words, answer->words);
}

/* ---- the client's side ---- */

struct call {
	const void *request;
	const struct http_caller *caller;
	void *context;
	bool is_stopped;
};

static struct client {
	struct call calls[4];
	int begun, works, stopped_none;
	bool is_freed, is_closed;
} client;

static void *begin(void *self, const void *request, const struct http_caller *caller, void *context)
{
	struct client *to = self;

	to->calls[to->begun] = (struct call){ request, caller, context, false };
	return &to->calls[to->begun++];
}

static void stop(void *call)
{
	if (call)
		((struct call *)call)->is_stopped = true;
	else
		client.stopped_none++;
}

static int fd(const void *self)
{
	return self == &client ? 5 : -1;
}

static int64_t wait_us(const void *self)
{
	return self == &client ? 4321 : -1;
}

static void work(void *self)
{
	((struct client *)self)->works++;
}

static void free_client(void *self)
{
	((struct client *)self)->is_freed = true;
}

static const struct call_way way = { begin, stop, fd, wait_us, work, free_client };

static struct calls *calls;
static struct effect effects[3];
static const char requests[3][8] = { "first", "second", "third" };

static int fresh(void **state)
{
	(void)state;
	client = (struct client){ .is_freed = false };
	memset(effects, 0, sizeof(effects));
	calls = memory_new(sizeof(*calls));
	calls_init(calls, "asks", &way, &client);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	calls->driver.close(calls->driver.self);
	assert_true(client.is_freed);
	return 0;
}

static void start(int i)
{
	calls->driver.start(calls->driver.self, &effects[i], requests[i]);
}

static void when_answered(int call, enum http_end end, const char *words)
{
	struct http_answer answer = { .end = end };

	TEXT_COPY(answer.words, words);
	client.calls[call].caller->done(client.calls[call].context, &answer);
}

static void each_effect_is_one_call_and_its_answer(void **state)
{
	(void)state;
	assert_string_equal(calls->driver.name, "asks");
	assert_int_equal(calls->driver.fd(calls->driver.self), 5);
	start(0);
	start(1);
	assert_int_equal(client.begun, 2);
	assert_ptr_equal(client.calls[1].request, requests[1]);
	assert_int_equal(calls->driver.wait_us(calls->driver.self), 4321);
	when_answered(1, HTTP_ANSWERED, "HTTP 200");
	assert_int_equal(effects[0].ends, 0);
	assert_int_equal(effects[1].ends, 1);
	assert_int_equal(effects[1].end, HTTP_ANSWERED);
	assert_string_equal(effects[1].words, "HTTP 200");
	when_answered(0, HTTP_UNKNOWN, "it hung up");
	assert_int_equal(effects[0].end, HTTP_UNKNOWN);
	calls->driver.work(calls->driver.self);
	assert_int_equal(client.works, 1);
}

static void a_call_that_holds_is_claimed_and_has_the_claims_time(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(client.calls[0].caller->until_us(client.calls[0].context), 0);
	calls->driver.proceed(
		calls->driver.self, &effects[0], true); /* of what does not hold there is nothing to let go */
	client.calls[0].caller->held(client.calls[0].context, NULL);
	assert_int_equal(effects[0].claims, 1);
	assert_int_equal(client.calls[0].caller->until_us(client.calls[0].context), 77);
	calls->driver.proceed(calls->driver.self, &effects[1], true); /* nor of what was never begun */
}

static void what_is_stopped_is_cut_and_says_nothing(void **state)
{
	(void)state;
	start(0);
	start(1);
	calls->driver.stop(calls->driver.self, &effects[0]);
	assert_true(client.calls[0].is_stopped);
	assert_false(client.calls[1].is_stopped);
	calls->driver.stop(calls->driver.self, &effects[0]); /* it is gone */
	calls->driver.stop(calls->driver.self, &effects[2]);
	assert_int_equal(client.stopped_none, 0);
	when_answered(1, HTTP_ANSWERED, "");
	assert_int_equal(effects[0].ends, 0);
	assert_int_equal(effects[1].ends, 1);
}

/* ---- with a driver's own request and meaning ---- */

static const void *ask(struct calls *of, struct call_job *job)
{
	assert_ptr_equal(of, calls);
	if (job->request != requests[0]) {
		buffer_add_text(&job->made.body, job->request);
		return &job->made;
	}
	TEXT_COPY(job->why, "there is no token");
	return NULL;
}

static void answered(struct calls *of, struct call_job *job, const struct http_answer *answer)
{
	struct http_answer result = { .end = answer->end };

	assert_ptr_equal(of, calls);
	snprintf(result.words, sizeof(result.words), "%s: %s", job->call ? "asked" : "not asked", answer->words);
	call_done(job, &result);
}

static void close_it(struct calls *of)
{
	(void)of;
	assert_true(client.is_freed); /* its calls borrow what the driver has */
	client.is_closed = true;
}

static void what_is_not_asked_ends_from_work_with_its_reason(void **state)
{
	(void)state;
	calls->ask = ask;
	start(1);
	assert_int_equal(calls->driver.wait_us(calls->driver.self), 4321);
	start(0);
	assert_int_equal(client.begun, 1);
	assert_int_equal(effects[0].ends, 0); /* not within the runtime's call */
	assert_int_equal(calls->driver.wait_us(calls->driver.self), 0);
	calls->driver.work(calls->driver.self);
	assert_int_equal(effects[0].ends, 1);
	assert_int_equal(effects[0].end, HTTP_NOT_SENT);
	assert_string_equal(effects[0].words, "there is no token");
	assert_int_equal(effects[1].ends, 0);
	assert_int_equal(calls->driver.wait_us(calls->driver.self), 4321);
	assert_string_equal(buffer_text(&((struct http_request *)client.calls[0].request)->body), "second");
}

static void what_an_answer_means_is_the_drivers_to_say(void **state)
{
	(void)state;
	calls->ask = ask;
	calls->answered = answered;
	calls->close = close_it;
	start(0);
	start(1);
	when_answered(0, HTTP_ANSWERED, "HTTP 200");
	assert_string_equal(effects[1].words, "asked: HTTP 200");
	calls->driver.work(calls->driver.self);
	assert_string_equal(effects[0].words, "not asked: there is no token");
	start(2); /* under way at the end */
	start(0);
	calls->driver.stop(calls->driver.self, &effects[0]);
	assert_int_equal(client.stopped_none, 1);
}

static void the_end_lets_go_of_all_without_a_word(void **state)
{
	(void)state;
	fresh(NULL);
	calls->ask = ask;
	calls->close = close_it;
	start(1);
	start(2);
	gone(NULL);
	assert_true(client.is_closed);
	assert_int_equal(effects[1].ends + effects[2].ends, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_effect_is_one_call_and_its_answer, fresh, gone),
		cmocka_unit_test_setup_teardown(a_call_that_holds_is_claimed_and_has_the_claims_time, fresh, gone),
		cmocka_unit_test_setup_teardown(what_is_stopped_is_cut_and_says_nothing, fresh, gone),
		cmocka_unit_test_setup_teardown(what_is_not_asked_ends_from_work_with_its_reason, fresh, gone),
		cmocka_unit_test_setup_teardown(what_an_answer_means_is_the_drivers_to_say, fresh, gone),
		cmocka_unit_test(the_end_lets_go_of_all_without_a_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
