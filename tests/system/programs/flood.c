/*
 * flood.c: peers that give the broker more than they take, for tests from the outside
 *
 *   cartbus-test-flood manifest              the topology of all of them
 *   cartbus-test-flood CONFIG say COUNT      512 bytes each, 256 unconfirmed; prints messages/s when all are confirmed
 *   cartbus-test-flood CONFIG hear COUNT     prints "ready", settles at once, prints "heard" after so many
 *   cartbus-test-flood CONFIG slow           the other queue: takes 10 ms for each message
 *   cartbus-test-flood CONFIG deaf COUNT     says, heartbeats, and never reads its mailbox; prints "said" when all are out
 */
#include "bus/actor/client.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include "bus/wire/zmq_link.h"
#include "platform.pb.h"
#include "services/kit/settings/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TOPIC_DECLARE(flood, Audit);
TOPIC_DEFINE(flood, "flood.message", Audit, RETAIN_RAW, NULL);

enum { UNCONFIRMED_MOST = 256, DEAF_IN_A_FRAME = 64, SLOW_MS = 10 };
#define PATIENCE_US (20 * US_PER_S)
#define ROUND_US (5 * US_PER_MS)

static uint64_t heard_count;

static enum verdict hear_one(const struct state *state, const Audit *message, struct turn *turn)
{
	(void)state, (void)message, (void)turn;
	heard_count++;
	return TURN_DONE;
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = SLOW_MS * 1000000L }, NULL);
}

static enum verdict hear_slowly(const struct state *state, const Audit *message, struct turn *turn)
{
	wait_a_little();
	return hear_one(state, message, turn);
}

static const struct service sayer = { .name = "floodsay", .operator_ = true, .says = SAYING(SAYS(flood)) };
static const struct service hearer = { .name = "floodhear", .hears = HEARING(HEARS(flood, hear_one)) };
static const struct service slow = { .name = "floodslow", .hears = HEARING(HEARS(flood, hear_slowly)) };

static struct config *config_of(const char *path)
{
	struct config *config = NULL;
	struct config_error error = { "" };

	if (config_load(path, settings_keys, &config, &error))
		die("%s", error.text);
	return config;
}

static struct client *connect_as(const struct service *service, const char *path, const struct clock *clock)
{
	struct client *client = NULL;
	char why[256] = "";

	if (client_open(service, config_of(path), clock, PATIENCE_US, &client, why))
		die("%s cannot connect: %s", service->name, why);
	return client;
}

static const Audit *message(void)
{
	static Audit audit;

	TEXT_COPY(audit.action, "flood");
	memset(audit.grounds, 'g', 380);
	memset(audit.before, 'b', 60);
	return &audit;
}

/* --- say --- */

struct saying {
	uint64_t said, confirmed;
};

static void hear_confirm(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)seq;
	if (result != SAID_FRESH)
		die("a message was not taken: %s", reason ? reason : "the session broke");
	((struct saying *)context)->confirmed++;
}

static void say_one(struct client *client, struct saying *saying)
{
	char key[32];

	snprintf(key, sizeof(key), "k%llu", (unsigned long long)saying->said++);
	if (runtime_publish(client_runtime(client), &topic_flood,
		    &(struct publish_options){ .shop = "flood", .key = key }, NULL, message(), hear_confirm, saying))
		die("cannot say a message");
}

static void say_all(struct client *client, uint64_t count)
{
	struct saying saying = { 0 };
	struct clock clock = clock_system();
	int64_t start_us = clock_boot_us(&clock);

	while (saying.confirmed < count) {
		client_work(client, 0);
		while (saying.said < count && saying.said - saying.confirmed < UNCONFIRMED_MOST)
			say_one(client, &saying);
		client_work(client, ROUND_US);
	}
	printf("%.0f\n", (double)count * US_PER_S / (double)(clock_boot_us(&clock) - start_us));
}

/* --- hear --- */

static void hear_all(struct client *client, uint64_t count)
{
	puts("ready");
	fflush(stdout);
	while (heard_count < count)
		client_work(client, ROUND_US);
	client_work(client, 0);
	puts("heard");
	fflush(stdout);
	while (true)
		client_work(client, ROUND_US);
}

/* --- deaf --- */

static void control(struct link *link, const Control *control)
{
	struct buffer out = { 0 };

	if (control_encode(control, &out) < 0)
		die("a control message does not encode");
	while (link->control(link, buffer_bytes(&out)) < 0) /* not connected yet, or full */
		zmq_link_wait(link, NULL, 0, ROUND_US);
	buffer_free(&out);
}

static uint64_t open_deaf_session(struct link *link)
{
	static Control asked = { .which_what = Control_hello_tag }, answer;
	struct buffer heard = { 0 };

	TEXT_COPY(asked.what.hello.service, sayer.name);
	TEXT_COPY(asked.what.hello.instance, "deaf");
	TEXT_COPY(asked.what.hello.run, "0123456789abcdef");
	control(link, &asked);
	while (link->hear_control(link, &heard) < 0)
		zmq_link_wait(link, NULL, 0, ROUND_US);
	if (control_decode(buffer_bytes(&heard), &answer) < 0 || answer.which_what != Control_welcome_tag)
		die("no welcome");
	if (link->open_mailbox(link, answer.what.welcome.lane) < 0)
		die("no lane");
	buffer_free(&heard);
	return answer.what.welcome.epoch;
}

static void beat(struct link *link, uint64_t epoch)
{
	static Control beat = { .which_what = Control_heartbeat_tag };
	struct buffer heard = { 0 };

	beat.what.heartbeat.epoch = epoch;
	control(link, &beat);
	while (link->hear_control(link, &heard) == 0)
		;
	buffer_free(&heard);
}

static void say_deaf_frame(struct link *link, uint64_t epoch, uint64_t number)
{
	static const Envelope envelope = { .topic = "flood.message", .shop = "flood", .key = "deaf" };
	struct frame_writer writer = { 0 };
	struct buffer body = { 0 }, frame = { 0 };

	if (message_write(&envelope, BYTES("x", 1), &body) < 0)
		die("no message");
	for (uint64_t i = 0; i < DEAF_IN_A_FRAME; i++) {
		Up up = { .which_what = Up_publish_tag, .what.publish.request = number * DEAF_IN_A_FRAME + i };

		frame_add(&writer, Up_fields, &up, buffer_bytes(&body));
	}
	frame_finish(&writer, epoch, number, &frame);
	while (link->say(link, buffer_bytes(&frame)) < 0)
		zmq_link_wait(link, NULL, 0, ROUND_US);
	frame_writer_free(&writer);
	buffer_free(&body);
	buffer_free(&frame);
}

static void say_without_hearing(const char *path, uint64_t count)
{
	struct broker_endpoint reach = broker_endpoint_local(config_get(config_of(path), "paths", NULL, "run"));
	struct link *link = NULL;
	uint64_t epoch;

	if (zmq_link_new(&reach, &link) < 0)
		die("no link");
	epoch = open_deaf_session(link);
	for (uint64_t number = 1; number <= count / DEAF_IN_A_FRAME; number++) {
		if (number % 16 == 1)
			beat(link, epoch);
		say_deaf_frame(link, epoch, number);
	}
	puts("said");
	fflush(stdout);
	while (true) {
		beat(link, epoch);
		wait_a_little();
	}
}

static int print_manifest(void)
{
	const struct service *all[] = { &sayer, &hearer, &slow };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct buffer manifest = { 0 };

		service_manifest(all[i], &manifest);
		fputs(buffer_text(&manifest), stdout);
		buffer_free(&manifest);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct clock clock = clock_system();
	uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT64_MAX;

	log_open("flood", LOG_WARNING);
	if (argc == 2 && strcmp(argv[1], "manifest") == 0)
		return print_manifest();
	if (argc < 3)
		die("usage: cartbus-test-flood manifest | CONFIG say|hear|slow|deaf [COUNT]");
	if (strcmp(argv[2], "say") == 0)
		say_all(connect_as(&sayer, argv[1], &clock), count);
	else if (strcmp(argv[2], "hear") == 0)
		hear_all(connect_as(&hearer, argv[1], &clock), count);
	else if (strcmp(argv[2], "slow") == 0)
		hear_all(connect_as(&slow, argv[1], &clock), count);
	else if (strcmp(argv[2], "deaf") == 0)
		say_without_hearing(argv[1], count);
	return 0;
}
