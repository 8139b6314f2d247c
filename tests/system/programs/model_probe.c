/*
 * model_probe.c: the driver that asks models alone, led by a test over stdin
 *
 * `model_probe cartbus.conf` stands in for the runtime. Each line is a JSON object:
 *     {"id", "name", "task", "data", "schema", "most_tokens", "most_bytes", "temperature"}   a question; of "schema" its JSON as text
 * and says {"done": ID, "answered", "end", "text", "json", "tokens_in", "words"}. At the end of stdin: "closed".
 */
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/kit/model/model.h"
#include "services/kit/settings/settings.h"
#include "tests/system/programs/led_driver.h"
#include <jansson.h>
#include <signal.h>

struct effect {
	json_t *asked;
	struct model_request request;
};

static struct effect_driver *driver;

/* Of what never holds the runtime's side is not called. */
void effect_claim(struct effect *effect)
{
	(void)effect;
	die("a question to a model needs no claim");
}

int64_t effect_until_us(const struct effect *effect)
{
	(void)effect;
	return INT64_MAX;
}

bool effect_may_go(const struct effect *effect)
{
	(void)effect;
	return true;
}

const void *effect_request(const struct effect *effect)
{
	return &effect->request;
}

void effect_done(struct effect *effect, const void *result)
{
	const struct model_answer *answer = result;
	json_t *line = json_pack("{s:O, s:b, s:i, s:s*, s:O*, s:i, s:s}", "done", json_object_get(effect->asked, "id"),
		"answered", answer->answered, "end", (int)answer->end, "text", answer->text, "json", answer->json,
		"tokens_in", (int)answer->tokens_in, "words", answer->words);

	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
	model_request_clear(&effect->request);
	json_decref(effect->asked);
	free(effect);
}

static char *text_of(const json_t *asked, const char *key)
{
	const char *text = json_string_value(json_object_get(asked, key));

	return text ? memory_copy_text(text) : NULL;
}

static void obey(const char *line)
{
	struct effect *effect = memory_new(sizeof(*effect));
	json_t *asked = effect->asked = json_loads(line, 0, NULL);

	if (!asked)
		die("the line is no JSON: %s", line);
	effect->request = (struct model_request){ .name = json_string_value(json_object_get(asked, "name")),
		.task = text_of(asked, "task"),
		.data = text_of(asked, "data"),
		.schema = text_of(asked, "schema"),
		.most_tokens = (int)json_integer_value(json_object_get(asked, "most_tokens")),
		.most_bytes = (size_t)json_integer_value(json_object_get(asked, "most_bytes")),
		.temperature = json_number_value(json_object_get(asked, "temperature")) };
	driver->start(driver->self, effect, &effect->request);
}

int main(int argc, char **argv)
{
	struct config *config;
	struct config_error error;
	struct clock clock = clock_system();
	struct models models;

	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	log_open("model_probe", LOG_INFO);
	if (argc != 2)
		die("usage: model_probe cartbus.conf");
	if (config_load(argv[1], settings_keys, &config, &error) < 0)
		die("%s", error.text);
	models = models_of(config);
	driver = model_driver_new(&models, config, &clock);
	models_clear(&models);
	if (!driver)
		die("no model is configured");
	led_driver_run(driver, obey);
	driver->close(driver->self);
	config_free(config);
	puts("closed");
	return 0;
}
