/* stand_in.c: see stand_in.h */
#include "tests/service/cartbus/stand_in.h"

#include "bus/actor/client.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "bus/wire/curve.h"
#include "services/cartbus/core/post.h"
#include "services/cartbus/core/print.h"
#include "tests/service/cartbus/message_of_json.h"
#include <errno.h>
#include <openssl/evp.h>
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MESSAGES_MAX = 120, PAYLOAD_MAX = 16384, ANSWERS_MAX = 8, ANSWER_MAX = 32768, PAGE = 3 };

struct said_one {
	char topic[40], shop[64], key[160], idem[160], said_by[32], trace[40];
	int64_t time_us;
	uint64_t version, cause;
	bool tombstone;
	size_t len;
	uint8_t payload[PAYLOAD_MAX];
};

static struct shared { /* by the commands, each a child process */
	int count, randoms, pairs;
	struct said_one log[MESSAGES_MAX];
} * shared;

static struct {
	char verb[32], text[ANSWER_MAX];
	const char *at; /* what is answered next */
} answers[ANSWERS_MAX];
static bool is_away;
static const char BETWEEN_ANSWERS[] = " || ";

struct client {
	struct clock *clock;
};

static struct client the_client;

void stand_in_open(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("no memory for the log");
}

static struct said_one *append(const struct topic *topic, const struct publish_options *how, const void *message)
{
	struct said_one *one = &shared->log[shared->count];
	pb_ostream_t to = pb_ostream_from_buffer(one->payload, PAYLOAD_MAX);

	if (shared->count == MESSAGES_MAX || !pb_encode(&to, topic->message, message))
		die("%s does not fit into the log", topic->name);
	one->len = to.bytes_written;
	one->version = how->version;
	one->tombstone = how->tombstone;
	TEXT_COPY(one->topic, topic->name);
	TEXT_COPY(one->shop, how->shop ? how->shop : "");
	TEXT_COPY(one->key, how->key ? how->key : "");
	TEXT_COPY(one->idem, how->idem ? how->idem : "");
	TEXT_COPY(one->said_by, "cartbus");
	shared->count++;
	return one;
}

void stand_in_add(
	const char *topic_name, const char *said_by, const char *shop, const char *key, int64_t at_us, json_t *message)
{
	const struct topic *topic = topic_of(topic_name);
	uint64_t cause = (uint64_t)json_integer_value(json_object_get(message, "cause"));
	_cleanup_free_ void *decoded = NULL;
	struct said_one *one;

	if (!topic)
		die("there is no topic %s", topic_name);
	json_object_del(message, "cause");
	decoded = message_of_json(topic, message);
	one = append(topic, &(struct publish_options){ .shop = shop, .key = key }, decoded);
	one->time_us = STAND_IN_NOW_US + at_us;
	one->cause = cause;
	snprintf(one->said_by, sizeof(one->said_by), "%s", said_by);
	snprintf(one->trace, sizeof(one->trace), "t%d", shared->count);
}

void stand_in_answer(const char *verb, const char *answer)
{
	int i = 0;

	is_away = !answer;
	if (is_away)
		return;
	while (i < ANSWERS_MAX && answers[i].verb[0] && strcmp(answers[i].verb, verb) != 0)
		i++;
	if (i == ANSWERS_MAX || !TEXT_COPY(answers[i].verb, verb) || !TEXT_COPY(answers[i].text, answer))
		die("there are too many answers, or %s is too long", verb);
	answers[i].at = answers[i].text;
}

static const char *answer_to(const char *verb)
{
	for (int i = 0; i < ANSWERS_MAX; i++) {
		if (strcmp(answers[i].verb, verb) == 0)
			return answers[i].at;
	}
	return NULL;
}

/* Of several, the next one; the last stays. */
static json_t *take_answer(const char *verb)
{
	const char *answer = answer_to(verb), *next = answer ? strstr(answer, BETWEEN_ANSWERS) : NULL;

	for (int i = 0; next && i < ANSWERS_MAX; i++) {
		if (answers[i].at == answer)
			answers[i].at = next + strlen(BETWEEN_ANSWERS);
	}
	return answer ? json_loads(answer, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
}

/* ---- "read", as the broker answers it ---- */

static bool is_one_of(const char *text, const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one) if (strcmp(json_string_value(one), text) == 0) return true;
	return false;
}

static bool is_text(const json_t *asked, const char *name, const char *text)
{
	const char *wanted = json_string_value(json_object_get(asked, name));

	return wanted && strcmp(wanted, text) == 0;
}

static bool is_wanted(const struct said_one *one, const json_t *asked)
{
	const json_t *topics = json_object_get(asked, "topics");

	return (!json_object_get(asked, "topic") || is_text(asked, "topic", one->topic)) &&
		(!topics || is_one_of(one->topic, topics)) &&
		(!json_object_get(asked, "shop") || is_text(asked, "shop", one->shop) ||
			is_text(asked, "or_shop", one->shop)) &&
		(!json_object_get(asked, "key") || is_text(asked, "key", one->key));
}

static json_t *one_json(const struct said_one *one, int seq)
{
	static char base64[PAYLOAD_MAX * 2];

	EVP_EncodeBlock((unsigned char *)base64, one->payload, (int)one->len);
	return json_pack("{s:i,s:I,s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:b,s:s}", "seq", seq, "version",
		(json_int_t)one->version, "cause", (json_int_t)one->cause, "time_us", (json_int_t)one->time_us, "topic",
		one->topic, "shop", one->shop, "key", one->key, "said_by", one->said_by, "trace", one->trace,
		"tombstone", (int)one->tombstone, "payload", base64);
}

static json_t *read_log(const json_t *asked)
{
	json_int_t limit = json_integer_value(json_object_get(asked, "limit"));
	int seq = (int)json_integer_value(json_object_get(asked, "from"));
	json_t *messages = json_array();

	seq = seq > 0 ? seq : 1;
	limit = limit < PAGE ? limit : PAGE;
	for (; seq <= shared->count && json_array_size(messages) < (size_t)limit; seq++) {
		if (is_wanted(&shared->log[seq - 1], asked))
			json_array_append_new(messages, one_json(&shared->log[seq - 1], seq));
	}
	return json_pack(
		"{s:o,s:o}", "messages", messages, "next", seq <= shared->count ? json_integer(seq) : json_null());
}

static json_t *status(void)
{
	json_t *answer = json_pack("{s:i}", "head", shared->count), *given = take_answer("status");

	json_object_update(answer, given);
	json_decref(given);
	return answer;
}

/* ---- client.h ---- */

int client_open(const struct service *service, const struct config *config, const struct clock *clock,
	int64_t patience_us, struct client **ret, char ret_why[256])
{
	(void)service, (void)config, (void)patience_us;
	the_client.clock = (struct clock *)clock; /* it is the command's, and virtual: waiting moves it */
	*ret = &the_client;
	snprintf(ret_why, 256, "nobody answers");
	return is_away ? -ETIMEDOUT : 0;
}

void client_free(struct client *client)
{
	(void)client;
}

static int find_idem(const struct topic *topic, const struct publish_options *how)
{
	for (int i = 0; how->idem && i < shared->count; i++) {
		if (strcmp(shared->log[i].topic, topic->name) == 0 && strcmp(shared->log[i].idem, how->idem) == 0 &&
			strcmp(shared->log[i].shop, how->shop) == 0)
			return i + 1;
	}
	return 0;
}

int client_publish(struct client *client, const struct topic *topic, const struct publish_options *how,
	const void *message, struct client_said *ret, char ret_why[256])
{
	json_t *json = message_to_clear_json(topic, message);
	_cleanup_free_ char *text = json_dumps(json, JSON_COMPACT);
	int seq = find_idem(topic, how);

	json_decref(json);
	if (answer_to("say")) {
		snprintf(ret_why, 256, "%s", answer_to("say"));
		return -EPERM;
	}
	printf("> %s shop=%s key=%s idem=%s version=%llu %s\n", topic->name, how->shop ? how->shop : "", how->key,
		how->idem ? how->idem : "", (unsigned long long)how->version, text);
	*ret = (struct client_said){ .result = seq ? SAID_DUPLICATE : SAID_FRESH, .seq = (uint64_t)seq };
	if (seq)
		return 0;
	append(topic, how, message)->time_us = clock_wall_us(client->clock);
	ret->seq = (uint64_t)shared->count;
	return 0;
}

int client_ask(
	struct client *client, const char *verb, const char *argument, struct buffer *ret_json, char ret_why[256])
{
	json_t *asked = json_loads(argument, 0, NULL), *answer = NULL;
	_cleanup_free_ char *text = NULL;

	(void)client;
	if (strcmp(verb, "read") == 0 && !answer_to("read")) {
		answer = read_log(asked);
	} else if (strcmp(verb, "status") == 0) {
		answer = status();
	} else {
		printf("> ask %s %s\n", verb, argument);
		answer = take_answer(verb);
	}
	json_decref(asked);
	snprintf(ret_why, 256, "the broker says no to %s", verb);
	if (!answer)
		return -EPERM;
	text = json_dumps(answer, JSON_COMPACT);
	buffer_add_text(ret_json, text);
	json_decref(answer);
	return 0;
}

void client_meanwhile(struct client *client, client_meanwhile_fn *go_on, void *context)
{
	(void)client, (void)go_on, (void)context;
}

enum runtime_phase client_phase(const struct client *client, char ret_why[256])
{
	(void)client;
	snprintf(ret_why, 256, "%s", is_away ? "nobody answers" : "");
	return is_away ? RUNTIME_AWAY : RUNTIME_READY;
}

void client_work(struct client *client, int64_t most_us)
{
	client->clock->virtual_us += most_us;
}

void client_work_beside(struct client *client, int fd, int64_t most_us)
{
	(void)fd;
	client_work(client, most_us);
}

struct runtime *client_runtime(struct client *client)
{
	return (struct runtime *)client;
}

/* ---- what is another every time (the linker's --wrap) ---- */

struct clock __wrap_clock_system(void);
void __wrap_text_random_name(char to[33]);
void __wrap_curve_make(struct curve_pair *ret);
int __wrap_post_send(const struct post *post, struct buffer *ret);
int __wrap_runtime_publish(struct runtime *runtime, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message, said_fn *said, void *context);

int __wrap_post_send(const struct post *post, struct buffer *ret)
{
	printf("> POST http://%s:%s%s\n%s\n%.*s\n", post->host, post->port, post->path, post->headers,
		(int)post->body.len, (const char *)post->body.data);
	if (!answer_to("post"))
		return -ECONNREFUSED;
	buffer_add_text(ret, answer_to("post"));
	return 200;
}

struct clock __wrap_clock_system(void)
{
	return clock_virtual(STAND_IN_NOW_US);
}

void __wrap_text_random_name(char to[33])
{
	snprintf(to, 33, "%08x%024x", 0x10000000 + ++shared->randoms, 7);
}

void __wrap_curve_make(struct curve_pair *ret)
{
	memset(ret, ++shared->pairs, sizeof(*ret));
}

int __wrap_runtime_publish(struct runtime *runtime, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message, said_fn *said, void *context)
{
	struct client_said result;
	char why[256];
	int r = client_publish((struct client *)runtime, topic, how, message, &result, why);

	(void)trace;
	said(context, r ? SAID_REFUSED : result.result, result.seq, r ? why : NULL);
	return 0;
}
