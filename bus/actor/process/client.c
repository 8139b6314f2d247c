/*
 * client.c: a command on the bus; its calls block until an answer comes or its patience ends
 *
 * Owns:      a link, a store in memory that stays empty, the runtime over both; the calls whose answer may
 *            still come.
 * Fails by:  -ETIMEDOUT, -ECONNREFUSED, -EPERM, each with words for an admin.
 * Read next: runtime.h
 */
#include "bus/actor/client.h"

#include "bus/base/list.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/zmq_link.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ANSWER_PATIENCE_US (30 * US_PER_S)  /* a claim may be parked, a page of the log may be large */
#define CONNECT_BACKOFF_US (50 * US_PER_MS) /* the person at the command waits for it */

struct client {
	struct link *link; /* the runtime's; used to wait on */
	struct runtime *runtime;
	const struct clock *clock;
	char instance[64];
	struct broker_endpoint broker;
	client_meanwhile_fn *go_on; /* NULL: the usual patience */
	void *context;
	struct list waiting;
};

struct waiting { /* for one answer */
	struct list hook;
	const struct client *client;
	bool answered, ok;
	bool broke; /* the session did, before the answer came */
	struct client_said said;
	struct buffer text;
	char reason[256];
};

static bool may_go_on(const struct client *client)
{
	return !client->go_on || client->go_on(client->context);
}

static struct waiting *waiting_new(struct client *client)
{
	struct waiting *waiting = memory_new(sizeof(*waiting));

	waiting->client = client;
	list_append(&client->waiting, &waiting->hook);
	return waiting;
}

static void waiting_free(struct waiting *waiting)
{
	list_remove(&waiting->hook);
	buffer_free(&waiting->text);
	free(waiting);
}

void client_work(struct client *client, int64_t most_us)
{
	int64_t wait_us = runtime_work(client->runtime);

	if (wait_us < 0 || wait_us > most_us)
		wait_us = most_us;
	zmq_link_wait(client->link, NULL, 0, wait_us);
}

void client_work_beside(struct client *client, int fd, int64_t most_us)
{
	int64_t wait_us = runtime_work(client->runtime);
	struct pollfd other = { .fd = fd, .events = POLLIN };

	if (wait_us < 0 || wait_us > most_us)
		wait_us = most_us;
	zmq_link_wait(client->link, &other, 1, wait_us);
}

void client_meanwhile(struct client *client, client_meanwhile_fn *go_on, void *context)
{
	client->go_on = go_on;
	client->context = context;
}

enum runtime_phase client_phase(const struct client *client, char ret_why[256])
{
	enum runtime_phase phase = runtime_phase(client->runtime);

	snprintf(ret_why, 256, "%s", phase == RUNTIME_READY ? "" : runtime_why(client->runtime));
	return phase;
}

struct runtime *client_runtime(struct client *client)
{
	return client->runtime;
}

static int wait_until_ready(struct client *client, int64_t patience_us, char ret_why[256])
{
	int64_t until_us = clock_boot_us(client->clock) + patience_us;

	while (clock_boot_us(client->clock) < until_us && may_go_on(client)) {
		enum runtime_phase phase = runtime_phase(client->runtime);
		const char *obstacle = client->link->obstacle(client->link);

		if (phase == RUNTIME_READY)
			return 0;
		if (phase == RUNTIME_REFUSED) {
			snprintf(ret_why, 256, "%s", runtime_why(client->runtime));
			return -ECONNREFUSED;
		}
		if (obstacle) {
			snprintf(ret_why, 256, "%s", obstacle);
			return -EACCES;
		}
		client_work(client, 20 * US_PER_MS);
	}
	broker_endpoint_why(&client->broker, ret_why);
	return -ETIMEDOUT;
}

static int set_up(struct client *client, const struct service *service)
{
	struct runtime_settings settings = {
		.instance = client->instance, .effects_most = 1, .connect_backoff_us = CONNECT_BACKOFF_US
	};
	static struct effect_driver *const no_drivers[] = { NULL };
	struct store *store = NULL;
	int failed = store_open_memory(&runtime_store_options, &store);

	failed = failed ? failed : zmq_link_new(&client->broker, &client->link);
	if (failed) {
		store_close(store);
		return failed;
	}
	return runtime_new(service, &settings, client->link, &store, client->clock, no_drivers, &client->runtime);
}

int client_open(const struct service *service, const struct config *config, const struct clock *clock,
	int64_t patience_us, struct client **ret, char ret_why[256])
{
	struct client *client = memory_new(sizeof(*client));
	int failed;

	client->clock = clock;
	list_init(&client->waiting);
	snprintf(client->instance, sizeof(client->instance), "%s-%d", service->name, (int)getpid());
	failed = broker_endpoint_read(config, service->name, &client->broker, ret_why);
	if (failed) {
		free(client);
		return failed;
	}
	failed = set_up(client, service);
	if (failed)
		snprintf(ret_why, 256, "no way to connect to %.150s: %s", client->broker.run, strerror(-failed));
	else
		failed = wait_until_ready(client, patience_us, ret_why);
	if (failed) {
		client_free(client);
		return failed;
	}
	*ret = client;
	return 0;
}

void client_free(struct client *client)
{
	if (!client)
		return;
	if (client->runtime) {
		runtime_goodbye(client->runtime);
		runtime_free(client->runtime);
	}
	while (!list_empty(&client->waiting))
		waiting_free(LIST_ENTRY(client->waiting.next, struct waiting, hook));
	curve_wipe(&client->broker.key);
	free(client);
}

static bool wait_for(struct client *client, const struct waiting *waiting)
{
	int64_t until_us = clock_boot_us(client->clock) + ANSWER_PATIENCE_US;

	while (!waiting->answered && clock_boot_us(client->clock) < until_us && may_go_on(client))
		client_work(client, 20 * US_PER_MS);
	return waiting->answered;
}

static void hear_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct waiting *waiting = context;

	waiting->answered = true;
	waiting->said = (struct client_said){ .result = result, .seq = seq };
	TEXT_COPY(waiting->reason, reason ? reason : "");
}

/* A command that was busy with something else for a while has lost its session, and opens a new one. */
static int refresh(struct client *client, char ret_why[256])
{
	client_work(client, 0);
	return wait_until_ready(client, ANSWER_PATIENCE_US, ret_why);
}

static int say_once(struct client *client, const struct topic *topic, const struct publish_options *how,
	const void *message, struct client_said *ret, char ret_why[256])
{
	/*
	 * An answer that comes after our patience still needs a struct to write to: this one outlives the
	 * call.
	 */
	struct waiting *waiting = waiting_new(client);
	int failed = runtime_publish(client->runtime, topic, how, NULL, message, hear_said, waiting);

	if (!failed && !wait_for(client, waiting)) {
		snprintf(ret_why, 256, "the broker did not confirm in time; it may or may not have been said");
		return -ETIMEDOUT;
	}
	if (!failed && waiting->said.result == SAID_UNKNOWN)
		failed = -ECONNRESET;
	if (!failed && waiting->said.result == SAID_REFUSED)
		failed = -EPERM;
	if (failed == -EPERM)
		snprintf(ret_why, 256, "refused: %.240s", waiting->reason);
	else if (failed)
		snprintf(ret_why, 256, "not said: %s", strerror(-failed));
	*ret = waiting->said;
	waiting_free(waiting);
	return failed;
}

int client_publish(struct client *client, const struct topic *topic, const struct publish_options *how,
	const void *message, struct client_said *ret, char ret_why[256])
{
	int failed = refresh(client, ret_why);

	if (failed)
		return -ETIMEDOUT;
	failed = say_once(client, topic, how, message, ret, ret_why);
	if (failed == -ECONNRESET && how->idem && *how->idem && refresh(client, ret_why) == 0)
		failed = say_once(client, topic, how, message, ret, ret_why); /* twice counts once, by its key */
	return failed == -ECONNRESET ? -ETIMEDOUT : failed;
}

static void hear_answer(void *context, bool ok, const char *text, bool more)
{
	struct waiting *waiting = context;

	buffer_add_text(&waiting->text, text ? text : "");
	waiting->ok = ok;
	waiting->answered = !more;
	/* looked at now: the next session may be ready before the caller wakes */
	waiting->broke = !ok && runtime_phase(waiting->client->runtime) != RUNTIME_READY;
}

int client_ask(
	struct client *client, const char *verb, const char *argument, struct buffer *ret_json, char ret_why[256])
{
	struct waiting *waiting;
	int failed = refresh(client, ret_why);

	if (failed)
		return -ETIMEDOUT;
	waiting = waiting_new(client);
	failed = runtime_ask(client->runtime, verb, argument, hear_answer, waiting);
	if (!failed && !wait_for(client, waiting)) {
		snprintf(ret_why, 256, "the broker did not answer \"%s\" in time", verb);
		return may_go_on(client) ? -ETIMEDOUT : -ECANCELED; /* the wait stays: the answer may still come */
	}
	if (failed)
		snprintf(ret_why, 256, "cannot ask \"%s\": %s", verb, strerror(-failed));
	else if (!waiting->ok)
		snprintf(ret_why, 256, "%s", buffer_text(&waiting->text));
	else
		buffer_add(ret_json, waiting->text.data, waiting->text.len);
	if (!failed && !waiting->ok)
		failed = waiting->broke ? -ECONNRESET : -EPERM;
	waiting_free(waiting);
	return failed;
}
