/*
 * model.c: the effect driver that asks a model
 *
 * Owns:      the breaker: after five failures in a row nothing is asked for a minute, then for twice as long each time, up to an
 *            hour; the first answer ends that.
 * Promises:  ends within the deadline with words or without; a failure says why and holds nothing of what was asked or answered.
 * Fails by:  die() at the start when the configuration or the secret is of no use.
 * Read next: wire.c (the formats), calls.h
 */
#include "services/kit/model/model.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/effect/circuit.h"
#include "services/kit/http/calls.h"
#include "services/kit/keys/secrets.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { FAILURES_TOLERATED = 5 };
#define PAUSE_FIRST_US US_PER_MINUTE
#define PAUSE_MOST_US US_PER_HOUR

struct model_driver {
	struct calls calls; /* first; none holds before its last byte: words may be asked for twice */
	struct model_settings settings;
	const struct clock *clock;
	struct circuit circuit;
};

void model_request_clear(struct model_request *request)
{
	free(request->task);
	free(request->data);
	*request = (struct model_request){ 0 };
}

/* ---- the configuration ---- */

static const char *given(const struct config *config, const char *key, const char *otherwise)
{
	const char *value = config_get(config, "model", NULL, key);

	return value && *value ? value : otherwise;
}

static int64_t nano_usd(const struct config *config, const char *key)
{
	return llround(config_real(config, "model", NULL, key) * 1000); /* for a million tokens */
}

static void set_place(const struct config *config, struct model_settings *ret)
{
	char url[256] = "https://api.anthropic.com";

	if (ret->provider == MODEL_BEDROCK)
		snprintf(url, sizeof(url), "https://bedrock-runtime.%s.amazonaws.com", ret->region);
	TEXT_COPY(ret->url, given(config, "url", url));
	if (ret->url[0] && ret->url[strlen(ret->url) - 1] == '/')
		ret->url[strlen(ret->url) - 1] = '\0';
}

static void set_name(const struct config *config, struct model_settings *ret)
{
	static const char *const usual[] = { [MODEL_BEDROCK] = "global.anthropic.claude-haiku-4-5-20251001-v1:0",
		[MODEL_ANTHROPIC] = "claude-haiku-4-5-20251001",
		[MODEL_OPENAI] = "" };

	TEXT_COPY(ret->model, given(config, "model", usual[ret->provider]));
}

struct model_settings model_settings_of(const struct config *config)
{
	struct model_settings settings = { .provider = (enum model_provider)config_word(
						   config, "model", NULL, "provider") };

	if (settings.provider == MODEL_NONE)
		return settings;
	TEXT_COPY(settings.region, given(config, "region", ""));
	TEXT_COPY(settings.ca, given(config, "ca", ""));
	TEXT_COPY(settings.secret, given(config, "secret", ""));
	set_place(config, &settings);
	set_name(config, &settings);
	settings.deadline_us = config_number(config, "model", NULL, "deadline");
	settings.nano_usd_per_token_in = nano_usd(config, "usd-per-million-in");
	settings.nano_usd_per_token_out = nano_usd(config, "usd-per-million-out");
	return settings;
}

int model_try(const struct config *config, char ret_why[512])
{
	_cleanup_(buffer_free) struct buffer secret = { 0 };
	const char *name = given(config, "secret", "");
	int provider = config_word(config, "model", NULL, "provider"), r;
	char path[256];

	if (provider == MODEL_NONE || !*name)
		return 0;
	secret_path(config, name, path);
	r = file_read_secret(path, &secret);
	if (r < 0)
		snprintf(ret_why, 512,
			"%s: %s: write the key of [model] there, readable by this user alone (chmod 600)%s", path,
			strerror(-r),
			provider == MODEL_BEDROCK ? "; \"access key id:secret key[:session token]\"" : "");
	return r;
}

/* ---- the calls ---- */

static const void *ask(struct calls *calls, struct call_job *job)
{
	struct model_driver *model = (struct model_driver *)calls;
	int64_t now_us = clock_boot_us(model->clock);

	if (!circuit_may_try(&model->circuit, now_us)) {
		TEXT_COPY(job->why, "the model failed too often and is left alone for now");
		return NULL;
	}
	circuit_tried(&model->circuit, now_us);
	model_wire_request(&model->settings, job->request, &job->made);
	return &job->made;
}

static struct model_answer read_answer(const struct model_driver *model, const struct http_answer *answer)
{
	struct model_answer read = { 0 };

	if (answer->end == HTTP_ANSWERED && answer->status == 200) {
		read.answered = model_wire_answer(model->settings.provider, answer->body, &read) == 0;
		return read;
	}
	snprintf(read.words, sizeof(read.words), "%.190s", answer->words);
	return read;
}

static void note_end(struct model_driver *model, const struct model_answer *answer)
{
	if (answer->answered)
		circuit_worked(&model->circuit);
	else if (circuit_failed(&model->circuit, clock_boot_us(model->clock)))
		log_event(LOG_WARNING, "the model failed %d times in a row (%s): nothing is asked of it for %lld s",
			model->circuit.failed, answer->words, (long long)(model->circuit.pause_us / US_PER_S));
}

static void answered(struct calls *calls, struct call_job *job, const struct http_answer *answer)
{
	struct model_driver *model = (struct model_driver *)calls;
	struct model_answer read = read_answer(model, answer);

	if (job->call)
		note_end(model, &read);
	call_done(job, &read);
}

struct effect_driver *model_driver_new(
	const struct model_settings *settings, const struct config *config, const struct clock *clock)
{
	struct model_driver *model;
	struct http_settings http = http_settings_of(config, clock);
	char why[512];

	if (settings->provider == MODEL_NONE)
		return NULL;
	if (model_try(config, why) < 0)
		die("%s", why);
	http.peer = "model";
	model = memory_new(sizeof(*model));
	model->settings = *settings;
	model->clock = clock;
	model->circuit = (struct circuit){
		.failures = FAILURES_TOLERATED, .first_us = PAUSE_FIRST_US, .most_us = PAUSE_MOST_US
	};
	calls_init(&model->calls, "model", &http_calls, http_client_new(&http));
	model->calls.ask = ask;
	model->calls.answered = answered;
	return &model->calls.driver;
}
