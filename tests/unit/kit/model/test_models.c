/* Which models a configuration names, and which of them answers a question. */
#include "bus/base/cleanup.h"
#include "bus/base/config.h"
#include "bus/base/file.h"
#include "services/kit/model/spend.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>

DEFINE_CLEANUP(struct config *, config_free)

static struct config *parsed(const char *text)
{
	struct config *config = NULL;
	struct config_error error;

	if (config_parse(text, "cartbus.conf", settings_keys, &config, &error) < 0)
		fail_msg("%s", error.text);
	return config;
}

static void is_refused(const char *text, const char *expected)
{
	struct config *config = NULL;
	struct config_error error;

	assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &config, &error), -EINVAL);
	assert_string_equal(error.text, expected);
}

#define OLD "[model]\nprovider = openai\nurl = http://127.0.0.1:1/\nmodel = small\nusd-per-million-out = 7\n"

static void a_configuration_of_an_older_release_means_what_it_meant(void **state)
{
	_cleanup_(config_freep) struct config *config = parsed(OLD), *none = parsed("[gateway]\nport = 1\n");
	_cleanup_(models_clear) struct models models = models_of(config), no_models = models_of(none);
	static const char *const names[] = { NULL, "", "opening", "summary" };

	(void)state;
	assert_int_equal(models.count, 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct model_settings *found = models_find(&models, names[i]);

		assert_int_equal(found->provider, MODEL_OPENAI);
		assert_string_equal(found->url, "http://127.0.0.1:1");
		assert_string_equal(found->model, "small");
		assert_string_equal(found->name, "");
		assert_int_equal(found->deadline_us, 4 * US_PER_S);
		assert_int_equal(found->nano_usd_per_token_out, 7000);
		assert_int_equal(models_find(&no_models, names[i])->provider, MODEL_NONE);
	}
}

static void a_named_model_answers_its_questions_and_takes_nothing_from_the_default(void **state)
{
	_cleanup_(config_freep) struct config *config = parsed(OLD
		"secret = usual.key\nca = /a/ca\n[model summary]\nprovider = openai\nurl = http://127.0.0.1:2\nmodel = big\n"
		"usd-per-million-in = 3\ndeadline = 9s\n[model opening]\nprovider = none\n");
	struct models models = { 0 };
	struct folder folder = folder_new();
	char path[300];

	(void)state;
	FOLDER_PATH(path, folder, "usual.key");
	assert_int_equal(file_write_durably(path, bytes_of("k\n"), 0600), 0);
	setenv("CREDENTIALS_DIRECTORY", folder.path, 1);
	models = models_of(config);
	unsetenv("CREDENTIALS_DIRECTORY");
	assert_int_equal(models.count, 3);
	const struct model_settings *summary = models_find(&models, "summary"), *judge = models_find(&models, "judge");
	assert_string_equal(summary->name, "summary");
	assert_string_equal(summary->model, "big");
	assert_string_equal(summary->url, "http://127.0.0.1:2");
	assert_string_equal(summary->secret, "");
	assert_string_equal(summary->ca, "");
	assert_int_equal(summary->deadline_us, 9 * US_PER_S);
	assert_int_equal(summary->nano_usd_per_token_in, 3000);
	assert_int_equal(summary->nano_usd_per_token_out, 5000);
	assert_string_equal(judge->model, "small"); /* there is no such model: the default */
	assert_string_equal(judge->secret, "usual.key");
	assert_int_equal(models_find(&models, "opening")->provider, MODEL_NONE); /* asked of nobody */

	struct model_use use = model_use_of(&models, "summary", config), off = model_use_of(&models, "opening", config);
	struct model_answer answer = { .answered = true, .tokens_in = 2, .tokens_out = 1 };
	ModelUsed used = model_use_told(&use, &answer, "summary", NULL);
	assert_true(use.is_on);
	assert_false(off.is_on);
	assert_string_equal(used.model, "summary");
	assert_int_equal(used.cost_nano_usd, 2 * 3000 + 5000); /* by its own prices */
	models_clear(&models);
	folder_remove(&folder);
}

static void a_wrong_named_model_is_refused_in_words(void **state)
{
	char why[512];

	(void)state;
	is_refused("[model summary]\nmodel = big\n",
		"cartbus.conf: [model summary] provider is missing: expected none, bedrock, anthropic or openai");
	is_refused("[model summary]\nprovider = openai\nmodel = big\n",
		"cartbus.conf:2: [model summary] provider = openai needs url, which is not given");
	is_refused("[model]\nurl = http://127.0.0.1:1\n[model summary]\nprovider = openai\nmodel = big\n",
		"cartbus.conf:4: [model summary] provider = openai needs url, which is not given"); /* it takes nothing from [model] */
	is_refused("[model summary]\nprovider = bedrock\n",
		"cartbus.conf:2: [model summary] provider = bedrock needs secret, which is not given");
	is_refused("[model summary]\nprovider = other\n",
		"cartbus.conf:2: [model summary] provider: expected none, bedrock, anthropic or openai, found \"other\"");

	_cleanup_(config_freep) struct config *name = parsed("[model The one]\nprovider = none\n"),
					      *secret = parsed("[paths]\nsecrets = /nowhere\n[model one]\nprovider = "
							       "anthropic\nsecret = one.key\n");
	assert_int_equal(model_try(name, why), -EINVAL);
	assert_string_equal(why,
		"cartbus.conf:2: [model The one] provider: the name of a model has at most 31 small letters, digits, hyphens and "
		"full stops");
	assert_int_equal(model_try(secret, why), -ENOENT);
	assert_string_equal(why,
		"/nowhere/one.key: No such file or directory: write the key of [model one] there, readable by this user alone "
		"(chmod 600)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_configuration_of_an_older_release_means_what_it_meant),
		cmocka_unit_test(a_named_model_answers_its_questions_and_takes_nothing_from_the_default),
		cmocka_unit_test(a_wrong_named_model_is_refused_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
