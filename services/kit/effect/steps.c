/*
 * steps.c: the queue of a driver that works in short steps
 *
 * Promises:  a job waits in exactly one step, behind the jobs that entered that step before it. After each
 *            step the next job is looked up again, because the called functions may start, answer or stop
 *            other jobs.
 * Read next: transport_maildir.c, file_driver.c
 */
#include "services/kit/effect/steps.h"
#include "bus/base/memory.h"
#include <stdlib.h>

static struct step_job *job_of(struct list *hook)
{
	return LIST_ENTRY(hook, struct step_job, hook);
}

static struct step_job *find(const struct steps *steps, const struct effect *effect)
{
	for (int step = 0; step < STEPS; step++)
		LIST_EACH (hook, &steps->jobs[step])
			if (job_of(hook)->effect == effect)
				return job_of(hook);
	return NULL;
}

struct step_job *steps_in(const struct steps *steps, enum step step)
{
	const struct list *jobs = &steps->jobs[step];
	return list_empty(jobs) ? NULL : job_of(jobs->next);
}

/* Jobs in STEP_GO come first, because their time is short. */
static struct step_job *ready(const struct steps *steps)
{
	struct step_job *job = steps_in(steps, STEP_GO);
	job = job ? job : steps_in(steps, STEP_DROP);
	return job ? job : steps_in(steps, STEP_BEGIN);
}

struct step_job *steps_numbered(const struct steps *steps, uint64_t number)
{
	for (int step = 0; step < STEPS; step++)
		LIST_EACH (hook, &steps->jobs[step])
			if (job_of(hook)->number == number)
				return job_of(hook);
	return NULL;
}

void steps_enter(struct steps *steps, struct step_job *job, enum step step)
{
	list_remove(&job->hook);
	list_append(&steps->jobs[step], &job->hook);
	job->step = step;
}

static void end(struct steps *steps, struct step_job *job)
{
	if (steps->forget)
		steps->forget(steps, job);
	list_remove(&job->hook);
	free(job);
}

static void steps_start(void *self, struct effect *effect, const void *request)
{
	struct steps *steps = self;
	struct step_job *job = memory_new(sizeof(*job));
	job->effect = effect;
	job->request = request;
	job->number = ++steps->jobs_begun;
	list_init(&job->hook);
	steps_enter(steps, job, STEP_BEGIN);
}

static void steps_proceed(void *self, struct effect *effect, bool go)
{
	struct step_job *job = find(self, effect);
	if (job)
		steps_enter(self, job, go ? STEP_GO : STEP_DROP);
}

static void steps_stop(void *self, struct effect *effect)
{
	struct step_job *job = find(self, effect);
	if (job)
		end(self, job);
}

static int steps_fd(void *self)
{
	return ((struct steps *)self)->fd;
}

static int64_t steps_wait(void *self)
{
	return ready(self) ? 0 : -1;
}

static void take_all(struct steps *steps)
{
	struct step_job *job;
	while ((job = ready(steps))) {
		if (job->step == STEP_GO && !effect_may_go(job->effect))
			steps_enter(steps, job, STEP_DROP);
		steps->take(steps, job);
	}
}

static void steps_work(void *self)
{
	struct steps *steps = self;
	for (;;) {
		if (steps->tend)
			steps->tend(steps);
		if (!ready(steps))
			return;
		take_all(steps);
	}
}

static void steps_close(void *self)
{
	struct steps *steps = self;
	if (steps->close)
		steps->close(steps);
	for (int step = 0; step < STEPS; step++)
		LIST_EACH_SAFE (hook, &steps->jobs[step])
			end(steps, job_of(hook));
	free(steps);
}

void steps_claim(struct steps *steps, struct step_job *job)
{
	steps_enter(steps, job, STEP_CLAIMING);
	effect_claim(job->effect);
}

void steps_done(struct steps *steps, struct step_job *job, const void *result)
{
	struct effect *effect = job->effect;
	end(steps, job);
	effect_done(effect, result);
}

void steps_init(struct steps *steps, const char *name)
{
	for (int step = 0; step < STEPS; step++)
		list_init(&steps->jobs[step]);
	steps->fd = -1;
	steps->driver = (struct effect_driver){ .name = name,
		.self = steps,
		.start = steps_start,
		.proceed = steps_proceed,
		.stop = steps_stop,
		.fd = steps_fd,
		.wait_us = steps_wait,
		.work = steps_work,
		.close = steps_close };
}
