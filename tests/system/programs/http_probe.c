/*
 * http_probe.c: the HTTP driver alone, led by a test over stdin
 *
 * `http_probe SECRETS_FOLDER` stands in for the runtime. Each line is a JSON object:
 *     {"id", "method", "url", "headers", "body", "auth", "ca", "deadline_ms", "most", "public", "holds", "wanted"}   a request
 *     {"go": ID, "good_ms"}, {"no": ID}, {"stale": ID}   answers the claim: yes, for so long (a second); no; yes, but too late
 *     {"stop": ID}                               as at a deadline
 * and says {"claim": ID} or {"done": ID, "end", "status", "body", "words", "headers"}. At the end of stdin: "closed".
 */
#include "bus/base/cleanup.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/http.h"
#include "tests/system/programs/led_driver.h"
#include <jansson.h>
#include <signal.h>

struct effect {
	struct list hook;
	char *id;
	json_t *asked;
	struct http_request request;
	int64_t until_us;
};

static LIST_HEAD(effects);
static struct effect_driver *driver;

static void effect_free(struct effect *effect)
{
	list_remove(&effect->hook);
	http_request_clear(&effect->request);
	json_decref(effect->asked);
	free(effect->id);
	free(effect);
}

static struct effect *find(const char *id)
{
	LIST_EACH (hook, &effects) {
		struct effect *effect = LIST_ENTRY(hook, struct effect, hook);
		if (strcmp(effect->id, id) == 0)
			return effect;
	}
	return NULL;
}

static void say(json_t *line)
{
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
}

void effect_claim(struct effect *effect)
{
	say(json_pack("{s:s}", "claim", effect->id));
}

int64_t effect_until_us(const struct effect *effect)
{
	return effect->until_us;
}

bool effect_may_go(const struct effect *effect)
{
	const struct clock clock = clock_system();
	return clock_boot_us(&clock) < effect->until_us;
}

const void *effect_request(const struct effect *effect)
{
	return &effect->request;
}

void effect_done(struct effect *effect, const void *result)
{
	static const char *const ends[] = { [HTTP_ANSWERED] = "answered",
		[HTTP_NOT_SENT] = "not_sent",
		[HTTP_UNKNOWN] = "unknown",
		[HTTP_BARRED] = "barred" };
	const struct http_answer *answer = result;
	json_t *headers = json_object(), *body = json_stringn(answer->body.data, answer->body.len);
	for (size_t i = 0; i < HTTP_WANTED_MAX; i++)
		if (answer->headers[i].name)
			json_object_set_new(headers, answer->headers[i].name, json_string(answer->headers[i].value));
	say(json_pack("{s:s, s:s, s:I, s:o*, s:I, s:s, s:o, s:I}", "done", effect->id, "end", ends[answer->end],
		"status", (json_int_t)answer->status, "body", body, "len", (json_int_t)answer->body.len, "words",
		answer->words, "headers", headers, "retry_us",
		(json_int_t)http_answer_retry_us(answer, -1, US_PER_HOUR)));
	effect_free(effect);
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));
	return value ? value : "";
}

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void fill_auth(struct http_auth *auth, const json_t *asked)
{
	static const char *const kinds[] = { "none", "bearer", "header", "basic", "sigv4" };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(text(asked, "kind"), kinds[i]) == 0)
			auth->kind = (enum http_auth_kind)i;
	TEXT_COPY(auth->secret, text(asked, "secret"));
	TEXT_COPY(auth->name, text(asked, "name"));
	TEXT_COPY(auth->region, text(asked, "region"));
	TEXT_COPY(auth->service, text(asked, "service"));
	if (json_object_get(asked, "value"))
		auth->value = text(asked, "value");
}

static void fill(struct http_request *request, const json_t *asked)
{
	const char *name;
	json_t *value;
	size_t i;
	http_request_init(request, text(asked, "method"), "%s", text(asked, "url"));
	json_object_foreach(json_object_get(asked, "headers"), name,
		value) if (http_request_header(request, name, json_string_value(value)) < 0)
		die("no such header may be sent");
	json_array_foreach(json_object_get(asked, "wanted"), i, value) request->wanted[i] = json_string_value(value);
	buffer_add_text(&request->body, text(asked, "body"));
	for (int64_t more = number(asked, "body_len"); more > 0; more--)
		buffer_add(&request->body, "x", 1);
	fill_auth(&request->auth, json_object_get(asked, "auth"));
	TEXT_COPY(request->ca, text(asked, "ca"));
	request->deadline_us = number(asked, "deadline_ms") * US_PER_MS;
	request->most_bytes = (size_t)number(asked, "most");
	request->reach = json_is_true(json_object_get(asked, "public")) ? HTTP_REACH_PUBLIC : HTTP_REACH_ADMIN;
	request->holds = json_is_true(json_object_get(asked, "holds"));
}

static void start(json_t *asked)
{
	struct effect *effect = memory_new(sizeof(*effect));
	effect->id = memory_copy_text(text(asked, "id"));
	effect->asked = json_incref(asked);
	fill(&effect->request, asked);
	list_append(&effects, &effect->hook);
	driver->start(driver->self, effect, &effect->request);
}

static void answer_claim(const char *id, bool go, int64_t good_ms)
{
	const struct clock clock = clock_system();
	struct effect *effect = find(id);
	if (!effect)
		return;
	effect->until_us = clock_boot_us(&clock) + good_ms * US_PER_MS;
	driver->proceed(driver->self, effect, go);
}

static void obey(const char *line)
{
	json_t *asked = json_loads(line, 0, NULL);
	struct effect *stopped = find(text(asked, "stop"));
	if (!asked)
		die("what is \"%s\"?", line);
	if (json_object_get(asked, "id"))
		start(asked);
	answer_claim(text(asked, "go"), true, json_object_get(asked, "good_ms") ? number(asked, "good_ms") : 1000);
	answer_claim(text(asked, "no"), false, 0);
	answer_claim(text(asked, "stale"), true, 0);
	if (stopped) {
		driver->stop(driver->self, stopped);
		effect_free(stopped);
	}
	json_decref(asked);
}

int main(int argc, char **argv)
{
	struct clock clock = clock_system();
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	log_open("http_probe", LOG_INFO);
	if (argc != 2)
		die("usage: http_probe SECRETS_FOLDER");
	driver = http_driver_new("http", &(struct http_settings){ .clock = &clock, .secrets = argv[1] });
	led_driver_run(driver, obey);
	driver->close(driver->self);
	while (!list_empty(&effects))
		effect_free(LIST_ENTRY(effects.next, struct effect, hook));
	puts("closed");
	return 0;
}
