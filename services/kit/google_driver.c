/*
 * google_driver.c: requests to Google as effects
 *
 * Promises:  as http_driver.c: of a request that holds, the last byte leaves only after proceed(true), while the claim's answer is young.
 * Read next: google.c, bus/actor/effect.h
 */
#include "bus/base/list.h"
#include "bus/base/memory.h"
#include "services/kit/google.h"
#include <stdlib.h>

struct google_driver {
	struct effect_driver driver;
	struct google *google;
	struct list jobs;
};

struct job {
	struct list hook;
	struct effect *effect;
	struct google_call *call;
	struct http_call *held; /* NULL: nothing waits for a word */
};

static struct job *find(struct google_driver *driver, const struct effect *effect)
{
	LIST_EACH (hook, &driver->jobs) {
		struct job *job = LIST_ENTRY(hook, struct job, hook);
		if (job->effect == effect)
			return job;
	}
	return NULL;
}

static void job_free(struct job *job)
{
	list_remove(&job->hook);
	free(job);
}

static void on_held(void *context, struct http_call *held)
{
	struct job *job = context;

	job->held = held;
	effect_claim(job->effect);
}

static bool on_may_go(void *context)
{
	const struct job *job = context;

	return effect_may_go(job->effect);
}

static void on_done(void *context, const struct http_answer *answer)
{
	struct job *job = context;
	struct effect *effect = job->effect;

	job_free(job);
	effect_done(effect, answer);
}

static const struct http_caller caller = { .held = on_held, .may_go = on_may_go, .done = on_done };

static void google_start(void *self, struct effect *effect, const void *request)
{
	struct google_driver *driver = self;
	struct job *job = memory_new(sizeof(*job));

	job->effect = effect;
	list_append(&driver->jobs, &job->hook);
	job->call = google_call_new(driver->google, request, &caller, job);
}

static void google_proceed(void *self, struct effect *effect, bool go)
{
	const struct job *job = find(self, effect);

	if (job && job->held)
		http_call_proceed(job->held, go);
}

static void google_stop(void *self, struct effect *effect)
{
	struct job *job = find(self, effect);

	if (!job)
		return;
	google_call_stop(job->call);
	job_free(job);
}

static int driver_fd(void *self)
{
	return google_fd(((struct google_driver *)self)->google);
}

static int64_t driver_wait_us(void *self)
{
	return google_wait_us(((struct google_driver *)self)->google);
}

static void driver_work(void *self)
{
	google_work(((struct google_driver *)self)->google);
}

static void driver_close(void *self)
{
	struct google_driver *driver = self;

	google_free(driver->google);
	while (!list_empty(&driver->jobs))
		job_free(LIST_ENTRY(driver->jobs.next, struct job, hook));
	free(driver);
}

struct effect_driver *google_driver_new(const struct google_settings *settings)
{
	struct google_driver *driver = memory_new(sizeof(*driver));

	list_init(&driver->jobs);
	driver->google = google_new(settings);
	driver->driver = (struct effect_driver){ .name = "google",
		.self = driver,
		.start = google_start,
		.proceed = google_proceed,
		.stop = google_stop,
		.fd = driver_fd,
		.wait_us = driver_wait_us,
		.work = driver_work,
		.close = driver_close };
	return &driver->driver;
}
