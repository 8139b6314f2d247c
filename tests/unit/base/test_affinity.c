/* test_affinity.c: threads that wake each other share a processor while the work is light, and only then */
#include "bus/base/affinity.h"
#include "tests/unit/cmocka_all.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { ENOUGH = 64 };

struct other {
	pthread_t thread;
	sem_t begun, over;
	_Atomic pid_t tid;
};

static void *run(void *context)
{
	struct other *other = context;

	other->tid = gettid();
	sem_post(&other->begun);
	sem_wait(&other->over);
	return NULL;
}

static void begin(struct other *other, const char *name)
{
	sem_init(&other->begun, 0, 0);
	sem_init(&other->over, 0, 0);
	assert_int_equal(pthread_create(&other->thread, NULL, run, other), 0);
	assert_int_equal(pthread_setname_np(other->thread, name), 0);
	sem_wait(&other->begun);
}

static void end(struct other *other)
{
	sem_post(&other->over);
	pthread_join(other->thread, NULL);
	sem_destroy(&other->begun);
	sem_destroy(&other->over);
}

static cpu_set_t processors_of(pid_t thread)
{
	cpu_set_t processors;

	assert_int_equal(sched_getaffinity(thread, sizeof(processors), &processors), 0);
	return processors;
}

static bool share_one(pid_t one, pid_t other)
{
	cpu_set_t first = processors_of(one), second = processors_of(other);

	return CPU_COUNT(&first) == 1 && CPU_EQUAL(&first, &second);
}

/* Until they share one: on a machine where others are busy they part now and then. */
static bool come_together(struct affinity *affinity, pid_t other)
{
	for (int i = 0; i < 1000 * ENOUGH && !share_one(0, other); i++)
		affinity_light_work(affinity);
	return share_one(0, other);
}

static void need_two_processors(void)
{
	cpu_set_t processors = processors_of(0);

	if (CPU_COUNT(&processors) < 2 || access("/proc/thread-self/schedstat", R_OK) < 0)
		skip();
}

static void light_work_brings_them_together_and_heavy_work_parts_them(void **state)
{
	struct other worker = { 0 }, stranger = { 0 };
	struct affinity *affinity;
	cpu_set_t before, after;

	(void)state;
	need_two_processors();
	before = processors_of(0);
	begin(&worker, "worker/0");
	begin(&stranger, "stranger");
	affinity = affinity_new("worker/");
	for (int i = 1; i < ENOUGH; i++)
		affinity_light_work(affinity);
	assert_false(share_one(0, worker.tid));
	assert_true(come_together(affinity, worker.tid));
	after = processors_of(stranger.tid);
	assert_true(CPU_EQUAL(&after, &before));
	affinity_heavy_work(affinity);
	after = processors_of(0);
	assert_true(CPU_EQUAL(&after, &before));
	after = processors_of(worker.tid);
	assert_true(CPU_EQUAL(&after, &before));
	affinity_free(affinity);
	end(&worker);
	end(&stranger);
}

static void they_are_left_as_they_were(void **state)
{
	struct other worker = { 0 };
	struct affinity *affinity;
	cpu_set_t before, after;

	(void)state;
	need_two_processors();
	before = processors_of(0);
	begin(&worker, "worker/0");
	affinity = affinity_new("worker/");
	assert_true(come_together(affinity, worker.tid));
	affinity_free(affinity);
	after = processors_of(0);
	assert_true(CPU_EQUAL(&after, &before));
	after = processors_of(worker.tid);
	assert_true(CPU_EQUAL(&after, &before));
	end(&worker);
}

static void *keep_busy(void *context)
{
	const atomic_bool *over = context;

	while (!atomic_load(over))
		;
	return NULL;
}

static void they_part_where_others_are_busy(void **state)
{
	struct other worker = { 0 };
	struct affinity *affinity;
	atomic_bool over = false;
	pthread_t busy;

	(void)state;
	need_two_processors();
	begin(&worker, "worker/0");
	affinity = affinity_new("worker/");
	assert_true(come_together(affinity, worker.tid));
	assert_int_equal(pthread_create(&busy, NULL, keep_busy, &over), 0); /* it inherits the processor */
	for (int i = 0; i < 100 * ENOUGH && share_one(0, worker.tid); i++) {
		sched_yield();
		affinity_light_work(affinity);
	}
	atomic_store(&over, true);
	pthread_join(busy, NULL);
	assert_false(share_one(0, worker.tid));
	affinity_free(affinity);
	end(&worker);
}

static void alone_it_stays_where_the_scheduler_puts_it(void **state)
{
	struct other worker = { 0 };
	struct affinity *affinity;

	(void)state;
	need_two_processors();
	begin(&worker, "worker/0");
	affinity = affinity_new("nobody/");
	for (int i = 0; i < 3 * ENOUGH; i++)
		affinity_light_work(affinity);
	assert_false(share_one(0, worker.tid));
	affinity_free(affinity);
	end(&worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(light_work_brings_them_together_and_heavy_work_parts_them),
		cmocka_unit_test(they_are_left_as_they_were),
		cmocka_unit_test(they_part_where_others_are_busy),
		cmocka_unit_test(alone_it_stays_where_the_scheduler_puts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
