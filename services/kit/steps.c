/*
 * steps.c: the queue of a driver that works in short steps
 *
 * Promises:  a job waits in exactly one step; each is looked for anew after every step, because what is called from there may
 *            start, answer or stop others.
 * Read next: transport_maildir.c, file_driver.c
 */
#include "services/kit/steps.h"
#include "bus/base/memory.h"
#include <stdlib.h>

static struct step_job *find(const struct steps *steps, const struct effect *effect)
{
	LIST_EACH (hook, &steps->jobs) {
		struct step_job *job = LIST_ENTRY(hook, struct step_job, hook);
		if (job->effect == effect)
			return job;
	}
	return NULL;
}

static struct step_job *ready(const struct steps *steps)
{
	LIST_EACH (hook, &steps->jobs) {
		struct step_job *job = LIST_ENTRY(hook, struct step_job, hook);
		if (job->step == STEP_BEGIN || job->step == STEP_GO || job->step == STEP_DROP)
			return job;
	}
	return NULL;
}

struct step_job *steps_in(const struct steps *steps, enum step step)
{
	LIST_EACH (hook, &steps->jobs) {
		struct step_job *job = LIST_ENTRY(hook, struct step_job, hook);
		if (job->step == step)
			return job;
	}
	return NULL;
}

struct step_job *steps_numbered(const struct steps *steps, uint64_t number)
{
	LIST_EACH (hook, &steps->jobs) {
		struct step_job *job = LIST_ENTRY(hook, struct step_job, hook);
		if (job->number == number)
			return job;
	}
	return NULL;
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
	list_append(&steps->jobs, &job->hook);
}

static void steps_proceed(void *self, struct effect *effect, bool go)
{
	struct step_job *job = find(self, effect);
	if (job)
		job->step = go ? STEP_GO : STEP_DROP;
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
			job->step = STEP_DROP;
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
	while (!list_empty(&steps->jobs))
		end(steps, LIST_ENTRY(steps->jobs.next, struct step_job, hook));
	free(steps);
}

void steps_claim(struct step_job *job)
{
	job->step = STEP_CLAIMING;
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
	list_init(&steps->jobs);
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
