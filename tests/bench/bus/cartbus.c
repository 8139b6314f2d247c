/*
 * cartbus.c: cartbus, with everything on: an order over many keys, an idempotency key on each tenth message, a trace in each,
 * the rights of its two peers, CRCs; every confirm is after a sync
 *
 * Read next: bus/actor/client.h
 */
#include "tests/bench/bus/cartbus.h"
#include "bus/actor/client.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/wire/bus_keys.h"
#include "load.pb.h"
#include "tests/bench/bus/peer.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TOPIC_DECLARE(load, Load);
TOPIC_DECLARE(large, LargeLoad);
TOPIC_DEFINE(load, "bench.load", Load, RETAIN_RAW, NULL);
TOPIC_DEFINE(large, "bench.large", LargeLoad, RETAIN_RAW, NULL);

enum { IDEMPOTENT_EVERY = 10 };
#define PATIENCE_US (10 * US_PER_S)

static const char trace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

static const struct config_key keys[] = { CONFIG_TABLE(bus_keys), CONFIG_OTHERS, CONFIG_END };

static uint64_t heard;

static enum verdict hear_load(const struct state *state, const Load *message, struct turn *turn)
{
	(void)state;
	(void)message;
	(void)turn;
	heard++;
	return TURN_DONE;
}

static enum verdict hear_large(const struct state *state, const LargeLoad *message, struct turn *turn)
{
	(void)state;
	(void)message;
	(void)turn;
	heard++;
	return TURN_DONE;
}

static const struct service sayer = { .name = "benchsay", .operator_ = true, .says = SAYING(SAYS(load), SAYS(large)) };
static const struct service hearer = {
	.name = "benchhear",
	.hears = HEARING(HEARS(load, hear_load), HEARS(large, hear_large)),
};

struct saying {
	struct client *client;
	uint64_t keys, confirmed;
	char run[33]; /* idempotency keys are of this run */
	Load load;
	LargeLoad large;
};

static struct clock clock_of_all;

static struct client *connect_as(const struct service *service, const char *path)
{
	struct config *config = NULL;
	struct config_error error = { "" };
	struct client *client = NULL;
	char why[256] = "";

	clock_of_all = clock_system();
	if (config_load(path, keys, &config, &error))
		die("%s", error.text);
	if (client_open(service, config, &clock_of_all, PATIENCE_US, &client, why))
		die("%s cannot connect: %s", service->name, why);
	return client;
}

static void *open_producer(const struct load *load)
{
	struct saying *saying = memory_new(sizeof(*saying));

	saying->client = connect_as(&sayer, load->address);
	saying->keys = load->keys;
	snprintf(saying->run, sizeof(saying->run), "%d-%lld", (int)getpid(), (long long)clock_wall_us(&clock_of_all));
	return saying;
}

static void hear_confirm(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct saying *saying = context;

	(void)seq;
	if (result != SAID_FRESH)
		die("a message was not taken: %s", reason ? reason : "the session broke");
	saying->confirmed++;
}

static void publish(void *producer, uint64_t nth, struct bytes body)
{
	struct saying *saying = producer;
	bool small = body.len <= sizeof(saying->load.body.bytes);
	char key[32], idem[80] = "";

	snprintf(key, sizeof(key), "cart-%llu", (unsigned long long)(nth % saying->keys));
	if (nth % IDEMPOTENT_EVERY == 0)
		snprintf(idem, sizeof(idem), "%s-%llu", saying->run, (unsigned long long)nth);
	saying->load.body.size = saying->large.body.size = (pb_size_t)body.len;
	memcpy(small ? saying->load.body.bytes : saying->large.body.bytes, body.data, body.len);
	if (runtime_publish(client_runtime(saying->client), small ? &topic_load : &topic_large,
		    &(struct publish_options){ .shop = "bench", .key = key, .idem = idem }, trace,
		    small ? (void *)&saying->load : (void *)&saying->large, hear_confirm, saying) < 0)
		die("cannot say a message");
}

static uint64_t confirmed(void *producer, int64_t wait_us)
{
	struct saying *saying = producer;
	uint64_t before = saying->confirmed;

	client_work(saying->client, wait_us); /* sends, and waits for something to hear */
	client_work(saying->client, 0);
	return saying->confirmed - before;
}

static void *open_consumer(const struct load *load)
{
	return connect_as(&hearer, load->address);
}

static uint64_t consumed(void *consumer, int64_t wait_us)
{
	uint64_t before = heard;

	client_work(consumer, wait_us);
	return heard - before;
}

/* Without a goodbye it would be a crash, and what it was handed meanwhile suspect. */
static void close_consumer(void *consumer)
{
	client_free(consumer);
}

const struct peer peer_cartbus = { "cartbus", open_producer, publish, confirmed, open_consumer, consumed,
	close_consumer };

void cartbus_print_manifest(void)
{
	struct buffer manifest = { 0 };

	service_manifest(&sayer, &manifest);
	service_manifest(&hearer, &manifest);
	fputs(buffer_text(&manifest), stdout);
	buffer_free(&manifest);
}
