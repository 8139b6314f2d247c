/*
 * models.c: reads the configured models, and finds the one that answers a question
 *
 * Promises:  a named section takes nothing from [model], so the key of one provider never goes to the URL of
 *            another. With `provider = none` in a named section, the questions of that name are not asked.
 * Fails by:  die() on an invalid configuration; model_try() gives the same words.
 * Read next: model.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/model/model.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *given(const struct config *config, const char *name, const char *key, const char *otherwise)
{
	const char *value = config_get(config, "model", name, key);

	return value && *value ? value : otherwise;
}

static int64_t nano_usd(const struct config *config, const char *name, const char *key)
{
	return llround(config_real(config, "model", name, key) * 1000); /* for a million tokens */
}

static void set_place(const struct config *config, const char *name, struct model_settings *ret)
{
	char url[256] = "https://api.anthropic.com";

	if (ret->provider == MODEL_BEDROCK)
		snprintf(url, sizeof(url), "https://bedrock-runtime.%s.amazonaws.com", ret->region);
	TEXT_COPY(ret->url, given(config, name, "url", url));
	if (ret->url[0] && ret->url[strlen(ret->url) - 1] == '/')
		ret->url[strlen(ret->url) - 1] = '\0';
}

static void set_model(const struct config *config, const char *name, struct model_settings *ret)
{
	static const char *const usual[] = { [MODEL_BEDROCK] = "global.anthropic.claude-haiku-4-5-20251001-v1:0",
		[MODEL_ANTHROPIC] = "claude-haiku-4-5-20251001",
		[MODEL_OPENAI] = "" };

	TEXT_COPY(ret->model, given(config, name, "model", usual[ret->provider]));
}

static struct model_settings settings_of(const struct config *config, const char *name)
{
	struct model_settings settings = { .provider = (enum model_provider)config_word(
						   config, "model", name, "provider") };

	TEXT_COPY(settings.name, name ? name : "");
	if (settings.provider == MODEL_NONE)
		return settings;
	TEXT_COPY(settings.region, given(config, name, "region", ""));
	TEXT_COPY(settings.ca, given(config, name, "ca", ""));
	TEXT_COPY(settings.secret, given(config, name, "secret", ""));
	set_place(config, name, &settings);
	set_model(config, name, &settings);
	settings.deadline_us = config_number(config, "model", name, "deadline");
	settings.nano_usd_per_token_in = nano_usd(config, name, "usd-per-million-in");
	settings.nano_usd_per_token_out = nano_usd(config, name, "usd-per-million-out");
	return settings;
}

/* ---- can the service start with this configuration? ---- */

struct trying {
	const struct config *config;
	char *why;
};

static const char *blank_before(const char *name)
{
	return name ? " " : "";
}

static int try_secret(const struct trying *trying, const char *name)
{
	_cleanup_(buffer_free) struct buffer secret = { 0 };
	const char *file = given(trying->config, name, "secret", "");
	int provider = config_word(trying->config, "model", name, "provider"), r;
	char path[256];

	if (provider == MODEL_NONE || !*file)
		return 0;
	secret_path(trying->config, file, path);
	r = file_read_secret(path, &secret);
	if (r < 0)
		snprintf(trying->why, 512,
			"%s: %s: write the key of [model%s%s] there, readable by this user alone (chmod 600)%s", path,
			strerror(-r), blank_before(name), name ? name : "",
			provider == MODEL_BEDROCK ? "; \"access key id:secret key[:session token]\"" : "");
	return r;
}

static bool is_name(const char *name)
{
	return strlen(name) <= MODEL_NAME_MAX && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.")];
}

static int try_section(const char *name, void *context)
{
	const struct trying *trying = context;
	struct config_error error;

	if (is_name(name))
		return try_secret(trying, name);
	config_refuse(trying->config, "model", name, "provider", &error,
		"the name of a model has at most %d small letters, digits, hyphens and full stops", MODEL_NAME_MAX);
	snprintf(trying->why, 512, "%s", error.text);
	return -EINVAL;
}

int model_try(const struct config *config, char ret_why[512])
{
	struct trying trying = { config, ret_why };
	int r = try_secret(&trying, NULL);

	return r < 0 ? r : config_each_section(config, "model", try_section, &trying);
}

/* ---- all of them ---- */

struct gathering {
	const struct config *config;
	struct models *models;
};

static int gather(const char *name, void *context)
{
	const struct gathering *gathering = context;
	struct models *models = gathering->models;

	models->all = memory_resize(models->all, (models->count + 1) * sizeof(*models->all));
	models->all[models->count++] = settings_of(gathering->config, name);
	return 0;
}

struct models models_of(const struct config *config)
{
	struct models models = { 0 };
	struct gathering gathering = { config, &models };
	char why[512];

	if (model_try(config, why) < 0)
		die("%s", why);
	gather(NULL, &gathering);
	config_each_section(config, "model", gather, &gathering);
	return models;
}

void models_clear(struct models *models)
{
	free(models->all);
	*models = (struct models){ 0 };
}

const struct model_settings *models_find(const struct models *models, const char *name)
{
	for (size_t i = 1; name && i < models->count; i++)
		if (strcmp(models->all[i].name, name) == 0)
			return &models->all[i];
	return &models->all[0];
}
