/*
 * publish.c: how many messages a second go from one process through the broker to another that acknowledges each
 *
 *   bench_publish --manifest             the topology of the two
 *   bench_publish CONFIG MESSAGES        prints two lines: confirmed, and acknowledged, messages a second
 *
 * The sayer keeps 256 messages of about 560 bytes unconfirmed, each with a key of its own; the hearer is a child process whose
 * service settles every delivery. Every confirm is after a sync. Nothing runs but the broker and these two.
 */
#include "bus/actor/client.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "cart.pb.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

TOPIC_DECLARE(bench, Audit);
TOPIC_DEFINE(bench, "bench.message", Audit, RETAIN_RAW, NULL);

enum { UNCONFIRMED_MOST = 256 };
#define PATIENCE_US (10 * US_PER_S)
#define ROUND_US (5 * US_PER_MS)

static const struct config_key keys[] = {
	{ "paths", "state", NULL, "the broker's", false },
	{ "paths", "run", NULL, "sockets", false },
	{ "paths", "shops", NULL, "others'", false },
	{ "paths", "secrets", NULL, "others'", false },
	{ "*", NULL, NULL, NULL, false },
	{ NULL, NULL, NULL, NULL, false },
};

static uint64_t heard_count;

static enum verdict hear_one(const struct state *state, const Audit *message, struct turn *turn)
{
	(void)state;
	(void)message;
	(void)turn;
	heard_count++;
	return DONE;
}

static const struct service sayer = { .name = "benchsay", .operator_ = true, .says = { SAYS(bench) } };
static const struct service hearer = { .name = "benchhear", .hears = { HEARS(bench, hear_one) } };

struct saying {
	uint64_t said, confirmed;
};

static void hear_confirm(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct saying *saying = context;

	(void)seq;
	if (result != SAID_FRESH)
		die("a message was not taken: %s", reason ? reason : "the session broke");
	saying->confirmed++;
}

static struct client *connect_as(const struct service *service, const char *path, const struct clock *clock)
{
	struct config *config = NULL;
	struct config_error error = { "" };
	struct client *client = NULL;
	char why[256] = "";

	if (config_load(path, keys, &config, &error))
		die("%s", error.text);
	if (client_open(service, config, clock, PATIENCE_US, &client, why))
		die("%s cannot connect: %s", service->name, why);
	return client;
}

static int run_hearer(const char *path, uint64_t messages, int to)
{
	struct clock clock = clock_system();
	struct client *client = connect_as(&hearer, path, &clock);
	char byte = 'r';

	if (write(to, &byte, 1) != 1)
		die("the sayer is gone");
	while (heard_count < messages)
		client_work(client, ROUND_US);
	client_work(client, 0); /* lets the last verdicts out */
	if (write(to, &byte, 1) != 1)
		die("the sayer is gone");
	client_free(client);
	return 0;
}

static void say_one(struct client *client, struct saying *saying)
{
	static Audit audit;
	char key[32];

	if (!audit.action[0]) {
		TEXT_COPY(audit.action, "bench");
		memset(audit.grounds, 'g', 380);
		memset(audit.before, 'b', 100);
	}
	audit.at_us = (int64_t)saying->said;
	snprintf(key, sizeof(key), "k%llu", (unsigned long long)saying->said);
	if (runtime_say(client_runtime(client), &topic_bench, &(struct say){ .shop = "bench", .key = key }, NULL,
		    &audit, hear_confirm, saying))
		die("cannot say a message");
	saying->said++;
}

static void say_all(struct client *client, uint64_t messages)
{
	struct saying saying = { 0 };

	while (saying.confirmed < messages) {
		client_work(client, 0); /* hears the confirms that came, so that the next messages go before it waits */
		while (saying.said < messages && saying.said - saying.confirmed < UNCONFIRMED_MOST)
			say_one(client, &saying);
		client_work(client, ROUND_US);
	}
}

static double seconds_since(const struct clock *clock, int64_t start_us)
{
	return (double)(clock_boot_us(clock) - start_us) / US_PER_S;
}

static int run_both(const char *path, uint64_t messages)
{
	struct clock clock = clock_system();
	struct client *client;
	int64_t start_us;
	double confirmed_s, acknowledged_s;
	int ends[2], status;
	char byte;
	pid_t child;

	if (pipe(ends))
		die("no pipe");
	child = fork();
	if (child == 0)
		_exit(run_hearer(path, messages, ends[1]));
	close(ends[1]);
	client = connect_as(&sayer, path, &clock);
	if (read(ends[0], &byte, 1) != 1)
		die("the hearer did not become ready");
	start_us = clock_boot_us(&clock);
	say_all(client, messages);
	confirmed_s = seconds_since(&clock, start_us);
	if (read(ends[0], &byte, 1) != 1)
		die("the hearer did not hear all");
	acknowledged_s = seconds_since(&clock, start_us);
	client_free(client);
	waitpid(child, &status, 0);
	printf("publish_confirmed %.0f messages/s\npublish_acknowledged %.0f messages/s\n",
		(double)messages / confirmed_s, (double)messages / acknowledged_s);
	return 0;
}

int main(int argc, char **argv)
{
	struct buffer manifest = { 0 };

	log_open("bench", LOG_WARNING);
	if (argc == 2 && strcmp(argv[1], "--manifest") == 0) {
		service_manifest(&sayer, &manifest);
		fputs(buffer_text(&manifest), stdout);
		buffer_clear(&manifest);
		service_manifest(&hearer, &manifest);
		fputs(buffer_text(&manifest), stdout);
		buffer_free(&manifest);
		return 0;
	}
	if (argc != 3)
		die("usage: bench_publish --manifest | bench_publish CONFIG MESSAGES");
	return run_both(argv[1], strtoull(argv[2], NULL, 10));
}
