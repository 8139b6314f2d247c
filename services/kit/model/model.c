/*
 * model.c: the effect driver that asks a model
 *
 * Owns:      a breaker for each configured model: after five failures in a row the driver does not ask the
 *            model for a minute, then for twice as long each time, up to an hour. The first answer ends this.
 * Promises:  a question ends within the deadline, with an answer or without. A failure gives its reason, and
 *            quotes neither question nor answer.
 * Fails by:  die() at the start if the configuration or the secret cannot be used.
 * Read next: models.c (chooses the model), wire.c (the formats), calls.h
 */
#include "services/kit/model/model.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/effect/circuit.h"
#include "services/kit/http/calls.h"
#include <jansson.h>
#include <stdio.h>

enum { FAILURES_TOLERATED = 5 };
#define PAUSE_FIRST_US US_PER_MINUTE
#define PAUSE_MOST_US US_PER_HOUR

struct model_driver {
	struct calls calls; /* must be first; no call waits before its last byte: it may go twice */
	struct models models;
	struct circuit *circuits; /* one for each of models.all */
	const struct clock *clock;
};

void model_request_clear(struct model_request *request)
{
	free(request->task);
	free(request->data);
	free(request->schema);
	*request = (struct model_request){ 0 };
}

void model_answer_clear(struct model_answer *answer)
{
	free(answer->text);
	json_decref(answer->json);
	answer->text = NULL;
	answer->json = NULL;
}

/* ---- the calls ---- */

static const struct model_settings *settings_for(const struct model_driver *model, const struct call_job *job)
{
	return models_find(&model->models, ((const struct model_request *)job->request)->name);
}

static struct circuit *circuit_of(const struct model_driver *model, const struct model_settings *settings)
{
	return &model->circuits[settings - model->models.all];
}

static const void *ask(struct calls *calls, struct call_job *job)
{
	struct model_driver *model = (struct model_driver *)calls;
	const struct model_settings *settings = settings_for(model, job);
	struct circuit *circuit = circuit_of(model, settings);
	int64_t now_us = clock_boot_us(model->clock);
	char why[MODEL_WORDS_MAX];

	if (!circuit_may_try(circuit, now_us)) {
		TEXT_COPY(job->why, "the model failed too often and is left alone for now");
		return NULL;
	}
	if (model_wire_request(settings, job->request, &job->made, why) < 0) {
		snprintf(job->why, sizeof(job->why), "%.150s", why);
		return NULL;
	}
	circuit_tried(circuit, now_us);
	return &job->made;
}

static void read_answer(enum model_provider provider, const struct call_job *job, const struct http_answer *answer,
	struct model_answer *ret)
{
	*ret = (struct model_answer){ .end = MODEL_FAILED };
	if (answer->end == HTTP_ANSWERED && answer->status == 200) {
		model_wire_answer(provider, job->request, answer->body, ret);
		return;
	}
	if (!job->call)
		ret->end = MODEL_NOT_ASKED;
	else if (answer->too_long)
		ret->end = MODEL_TOO_LARGE;
	snprintf(ret->words, sizeof(ret->words), "%.190s", answer->words);
}

static void note_end(
	const struct model_driver *model, const struct model_settings *settings, const struct model_answer *answer)
{
	struct circuit *circuit = circuit_of(model, settings);

	if (answer->answered)
		circuit_worked(circuit);
	else if (circuit_failed(circuit, clock_boot_us(model->clock)))
		log_event(LOG_WARNING, "the model%s%s failed %d times in a row (%s): nothing is asked of it for %lld s",
			settings->name[0] ? " " : "", settings->name, circuit->failed, answer->words,
			(long long)(circuit->pause_us / US_PER_S));
}

static void answered(struct calls *calls, struct call_job *job, const struct http_answer *answer)
{
	const struct model_driver *model = (const struct model_driver *)calls;
	const struct model_settings *settings = settings_for(model, job);
	struct model_answer read;

	read_answer(settings->provider, job, answer, &read);
	if (job->call)
		note_end(model, settings, &read);
	call_done(job, &read);
	model_answer_clear(&read);
}

/* ---- the driver ---- */

static void close_models(struct calls *calls)
{
	struct model_driver *model = (struct model_driver *)calls;

	models_clear(&model->models);
	free(model->circuits);
}

static void copy_models(struct model_driver *model, const struct models *models)
{
	model->models.count = models->count;
	model->models.all = memory_copy(BYTES(models->all, models->count * sizeof(*models->all)));
	model->circuits = memory_new(models->count * sizeof(*model->circuits));
	for (size_t i = 0; i < models->count; i++)
		model->circuits[i] = (struct circuit){
			.failures = FAILURES_TOLERATED, .first_us = PAUSE_FIRST_US, .most_us = PAUSE_MOST_US
		};
}

static bool is_any_on(const struct models *models)
{
	for (size_t i = 0; i < models->count; i++)
		if (models->all[i].provider != MODEL_NONE)
			return true;
	return false;
}

struct effect_driver *model_driver_new(
	const struct models *models, const struct config *config, const struct clock *clock)
{
	struct model_driver *model;
	struct http_settings http = http_settings_of(config, clock);
	char why[512];

	if (!is_any_on(models))
		return NULL;
	if (model_try(config, why) < 0)
		die("%s", why);
	http.peer = "model";
	model = memory_new(sizeof(*model));
	model->clock = clock;
	copy_models(model, models);
	calls_init(&model->calls, "model", &http_calls, http_client_new(&http));
	model->calls.ask = ask;
	model->calls.answered = answered;
	model->calls.close = close_models;
	return &model->calls.driver;
}
