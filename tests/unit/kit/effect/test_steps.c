/* test_steps.c: in which order the jobs of a driver are taken, and that each ends once */
#include "bus/base/memory.h"
#include "services/kit/effect/steps.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

struct effect {
	char name;
	int claims, ends;
	bool outdated; /* its claim has ended */
};

void effect_claim(struct effect *effect)
{
	effect->claims++;
}

bool effect_may_go(const struct effect *effect)
{
	return !effect->outdated;
}

int64_t effect_until_us(const struct effect *effect)
{
	(void)effect;
	return INT64_MAX;
}

void effect_done(struct effect *effect, const void *result)
{
	(void)result;
	effect->ends++;
}

/* What was done, in letters: "a" begun, "+a" gone, "-a" dropped, "~a" freed, "." tended, "x" closed. */
static char course[100];

static void note(const char *how, char name)
{
	size_t len = strlen(course);

	snprintf(course + len, sizeof(course) - len, "%s%c", how, name);
}

static void take(struct steps *steps, struct step_job *job)
{
	switch (job->step) {
	case STEP_BEGIN:
		note("", job->effect->name);
		steps_claim(steps, job);
		return;
	case STEP_GO:
	case STEP_DROP:
		note(job->step == STEP_GO ? "+" : "-", job->effect->name);
		steps_done(steps, job, NULL);
		return;
	case STEP_PREPARED:
	case STEP_CLAIMING:
	case STEP_SETTLE:
	case STEP_SETTLING:
		fail();
	}
}

static void forget(struct steps *steps, struct step_job *job)
{
	(void)steps;
	note("~", job->effect->name);
}

static void close_it(struct steps *steps)
{
	(void)steps;
	note("", 'x');
}

static struct steps *steps;
static struct effect effects[3];

static int fresh(void **state)
{
	(void)state;
	course[0] = '\0';
	steps = memory_new(sizeof(*steps));
	steps_init(steps, "short");
	steps->take = take;
	for (int i = 0; i < 3; i++)
		effects[i] = (struct effect){ .name = (char)('a' + i) };
	return 0;
}

static int gone(void **state)
{
	(void)state;
	steps->driver.close(steps->driver.self);
	return 0;
}

static void start(int i)
{
	steps->driver.start(steps->driver.self, &effects[i], NULL);
}

static void answer(int i, bool go)
{
	steps->driver.proceed(steps->driver.self, &effects[i], go);
}

static void work(void)
{
	steps->driver.work(steps->driver.self);
}

static int64_t wait_us(void)
{
	return steps->driver.wait_us(steps->driver.self);
}

static void jobs_begin_in_the_order_they_came(void **state)
{
	(void)state;
	assert_string_equal(steps->driver.name, "short");
	assert_int_equal(steps->driver.fd(steps->driver.self), -1);
	assert_int_equal(wait_us(), -1);
	start(1);
	start(0);
	start(2);
	assert_int_equal(wait_us(), 0);
	assert_string_equal(course, ""); /* nothing is done within the runtime's call */
	work();
	assert_string_equal(course, "bac");
	assert_int_equal(wait_us(), -1); /* all wait for their answers */
}

static void what_may_go_goes_before_what_is_dropped_and_what_begins(void **state)
{
	(void)state;
	start(0);
	start(1);
	work();
	start(2);
	answer(0, false);
	answer(1, true);
	assert_int_equal(wait_us(), 0);
	assert_string_equal(course, "ab");
	work();
	assert_string_equal(course, "ab+b-ac");
	assert_int_equal(effects[0].ends + effects[1].ends, 2);
	assert_int_equal(effects[2].ends, 0);
}

static void a_yes_that_has_grown_old_is_a_no(void **state)
{
	(void)state;
	start(0);
	work();
	answer(0, true);
	effects[0].outdated = true;
	work();
	assert_string_equal(course, "a-a");
}

static void an_answer_to_what_has_ended_is_nothing(void **state)
{
	(void)state;
	start(0);
	work();
	answer(0, true);
	work();
	answer(0, true);
	answer(1, true);
	steps->driver.stop(steps->driver.self, &effects[0]);
	assert_int_equal(wait_us(), -1);
	work();
	assert_string_equal(course, "a+a");
	assert_int_equal(effects[0].ends, 1);
}

static void what_is_stopped_is_forgotten_without_a_word(void **state)
{
	(void)state;
	steps->forget = forget;
	start(0);
	start(1);
	work();
	steps->driver.stop(steps->driver.self, &effects[0]);
	assert_string_equal(course, "ab~a");
	answer(1, true);
	work();
	assert_string_equal(course, "ab~a+b~b"); /* a request that has ended is freed too */
	assert_int_equal(effects[0].ends, 0);
	assert_int_equal(effects[1].ends, 1);
}

static void each_job_has_a_number_of_its_own(void **state)
{
	uint64_t number;

	(void)state;
	assert_null(steps_numbered(steps, 0));
	start(0);
	number = steps_in(steps, STEP_BEGIN)->number;
	assert_null(steps_in(steps, STEP_CLAIMING));
	work();
	assert_null(steps_in(steps, STEP_BEGIN));
	assert_ptr_equal(steps_numbered(steps, number), steps_in(steps, STEP_CLAIMING));
	answer(0, true);
	work();
	assert_null(steps_numbered(steps, number));
	start(0);
	assert_null(steps_numbered(steps, number)); /* the same effect again is another job */
	assert_non_null(steps_numbered(steps, steps_in(steps, STEP_BEGIN)->number));
}

static void tend(struct steps *tended)
{
	struct step_job *job = steps_in(tended, STEP_PREPARED);

	note("", '.');
	if (job)
		steps_enter(tended, job, STEP_GO);
}

/* What the driver tends goes on in the same work, and is looked at again after it. */
static void what_waits_for_the_driver_is_tended(void **state)
{
	(void)state;
	steps->tend = tend;
	start(0);
	steps_enter(steps, steps_in(steps, STEP_BEGIN), STEP_PREPARED);
	assert_int_equal(wait_us(), -1);
	work();
	assert_string_equal(course, ".+a.");
	assert_int_equal(effects[0].ends, 1);
}

static void the_end_forgets_every_job_in_any_step(void **state)
{
	(void)state;
	fresh(NULL);
	steps->forget = forget;
	steps->close = close_it;
	start(0);
	work();
	start(1);
	start(2);
	steps_enter(steps, steps_in(steps, STEP_BEGIN), STEP_SETTLING);
	gone(NULL);
	assert_string_equal(course, "ax~c~a~b"); /* from step to step */
	assert_int_equal(effects[0].ends + effects[1].ends + effects[2].ends, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(jobs_begin_in_the_order_they_came, fresh, gone),
		cmocka_unit_test_setup_teardown(what_may_go_goes_before_what_is_dropped_and_what_begins, fresh, gone),
		cmocka_unit_test_setup_teardown(a_yes_that_has_grown_old_is_a_no, fresh, gone),
		cmocka_unit_test_setup_teardown(an_answer_to_what_has_ended_is_nothing, fresh, gone),
		cmocka_unit_test_setup_teardown(what_is_stopped_is_forgotten_without_a_word, fresh, gone),
		cmocka_unit_test_setup_teardown(each_job_has_a_number_of_its_own, fresh, gone),
		cmocka_unit_test_setup_teardown(what_waits_for_the_driver_is_tended, fresh, gone),
		cmocka_unit_test(the_end_forgets_every_job_in_any_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
