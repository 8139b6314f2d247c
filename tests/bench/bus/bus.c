/*
 * bus.c: the same work for cartbus and its peers: a producer, and consumers that acknowledge each message by itself
 *
 *   bench_bus --manifest                 the topology of cartbus' two services
 *   bench_bus PEER ADDRESS WORK MESSAGES [bytes=512] [keys=10000] [consumers=1]
 *
 *   stream   256 messages unconfirmed; prints confirmed and acknowledged messages a second
 *   one      one at a time, and
 *   paced    1,000 a second, whatever the answers do: print the p50 and p99 from when a message was due until its confirm
 *
 * Promises:  every system meets the same loop; what it is asked is in peer.h. Each consumer is a process of its own.
 * Read next: peer.h, then a system: redis.c, nats.c, rabbitmq.c, beanstalkd.c, cartbus.c
 */
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "tests/bench/bus/cartbus.h"
#include "tests/bench/bus/peer.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONSUMERS_MOST = 1000, BYTES_MOST = 65000 };
#define ROUND_US (5 * US_PER_MS)
#define SILENCE_MOST_US (60 * US_PER_S)
#define PACE_US (US_PER_S / 1000)

static const struct peer *const peers[] = { &peer_cartbus, &peer_redis, &peer_nats, &peer_rabbitmq, &peer_beanstalkd };

/* What the producer and the consumers' processes share. */
struct tally {
	atomic_uint_fast64_t ready, acknowledged;
	atomic_int_fast64_t acknowledged_us; /* when the last message was; 0: not yet */
	atomic_bool over;
};

struct bench {
	const struct peer *peer;
	struct load load;
	uint64_t messages, consumers;
	struct clock clock;
	struct tally *tally;
	pid_t pids[CONSUMERS_MOST];
	void *producer;
	struct bytes body;
	int64_t *latency_us;
};

/* --- consumers --- */

static void consume(const struct bench *bench)
{
	struct tally *tally = bench->tally;
	void *consumer = bench->peer->open_consumer(&bench->load);

	atomic_fetch_add(&tally->ready, 1);
	while (!atomic_load(&tally->over)) {
		uint64_t count = bench->peer->consumed(consumer, 10 * ROUND_US);
		uint64_t before = atomic_fetch_add(&tally->acknowledged, count);

		if (before < bench->messages && before + count >= bench->messages)
			atomic_store(&tally->acknowledged_us, clock_boot_us(&bench->clock));
	}
	if (bench->peer->close_consumer)
		bench->peer->close_consumer(consumer);
}

static void wait_round(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

/* A consumer that ended by itself has said why. */
static void check_consumers(const struct bench *bench)
{
	int status;

	if (bench->consumers > 0 && waitpid(-1, &status, WNOHANG) > 0)
		die("a consumer of %s ended", bench->peer->name);
}

static void start_consumers(struct bench *bench)
{
	bench->tally = mmap(NULL, sizeof(*bench->tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bench->tally == MAP_FAILED)
		die("no memory to share");
	for (uint64_t i = 0; i < bench->consumers; i++) {
		bench->pids[i] = fork();
		if (bench->pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			consume(bench);
			_exit(0);
		}
	}
	while (atomic_load(&bench->tally->ready) < bench->consumers) {
		check_consumers(bench);
		wait_round();
	}
}

static void await_acknowledged(const struct bench *bench)
{
	uint64_t before = 0;
	int64_t since_us = clock_boot_us(&bench->clock);

	while (bench->consumers > 0 && atomic_load(&bench->tally->acknowledged_us) == 0) {
		uint64_t now = atomic_load(&bench->tally->acknowledged);

		if (now != before)
			since_us = clock_boot_us(&bench->clock);
		before = now;
		if (clock_boot_us(&bench->clock) - since_us > SILENCE_MOST_US)
			die("%s acknowledged only %llu of %llu", bench->peer->name, (unsigned long long)now,
				(unsigned long long)bench->messages);
		check_consumers(bench);
		wait_round();
	}
}

static void stop_consumers(struct bench *bench)
{
	atomic_store(&bench->tally->over, true);
	for (uint64_t i = 0; i < bench->consumers; i++)
		waitpid(bench->pids[i], NULL, 0);
}

/* --- the work --- */

static uint64_t await_confirms(const struct bench *bench, int64_t wait_us)
{
	return bench->peer->confirmed(bench->producer, wait_us);
}

static void print_rate(const char *name, const struct bench *bench, int64_t took_us)
{
	printf("%s %.0f messages/s\n", name, (double)bench->messages * US_PER_S / (double)took_us);
}

static void work_stream(struct bench *bench)
{
	int64_t start_us = clock_boot_us(&bench->clock), heard_us = start_us;
	uint64_t said = 0, confirmed = 0;

	while (confirmed < bench->messages) {
		uint64_t came;

		while (said < bench->messages && said - confirmed < UNCONFIRMED_MOST)
			bench->peer->publish(bench->producer, said++, bench->body);
		came = await_confirms(bench, ROUND_US);
		confirmed += came;
		if (came > 0)
			heard_us = clock_boot_us(&bench->clock);
		else if (clock_boot_us(&bench->clock) - heard_us > SILENCE_MOST_US)
			die("%s confirmed only %llu", bench->peer->name, (unsigned long long)confirmed);
	}
	print_rate("confirmed", bench, clock_boot_us(&bench->clock) - start_us);
	await_acknowledged(bench);
	if (bench->consumers > 0)
		print_rate("acknowledged", bench, atomic_load(&bench->tally->acknowledged_us) - start_us);
}

static int by_size(const void *a, const void *b)
{
	const int64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static void print_latencies(struct bench *bench)
{
	qsort(bench->latency_us, bench->messages, sizeof(*bench->latency_us), by_size);
	printf("p50 %lld us\n", (long long)bench->latency_us[bench->messages / 2]);
	printf("p99 %lld us\n", (long long)bench->latency_us[bench->messages * 99 / 100]);
}

static void work_one(struct bench *bench)
{
	for (uint64_t i = 0; i < bench->messages; i++) {
		int64_t start_us = clock_boot_us(&bench->clock);

		bench->peer->publish(bench->producer, i, bench->body);
		while (await_confirms(bench, ROUND_US) == 0)
			;
		bench->latency_us[i] = clock_boot_us(&bench->clock) - start_us;
	}
	print_latencies(bench);
}

/* Until it is due, and no longer; what is confirmed meanwhile is heard when nothing else is to be done. */
static void wait_until_due(const struct bench *bench, int64_t due_us)
{
	int64_t left_us = due_us - clock_boot_us(&bench->clock);

	if (left_us > 0)
		nanosleep(&(struct timespec){ .tv_nsec = left_us * 1000 }, NULL);
}

static void work_paced(struct bench *bench)
{
	int64_t start_us = clock_boot_us(&bench->clock) + PACE_US;
	uint64_t said = 0, confirmed = 0;

	while (confirmed < bench->messages) {
		int64_t due_us = start_us + (int64_t)said * PACE_US, now_us = clock_boot_us(&bench->clock);
		uint64_t came;

		if (said < bench->messages && now_us >= due_us) {
			bench->peer->publish(bench->producer, said++, bench->body);
			due_us += PACE_US;
		}
		if (said == confirmed) {
			wait_until_due(bench, due_us);
			continue;
		}
		came = await_confirms(bench, due_us > now_us ? due_us - now_us : 0);
		now_us = clock_boot_us(&bench->clock);
		for (; came > 0; came--, confirmed++)
			bench->latency_us[confirmed] = now_us - (start_us + (int64_t)confirmed * PACE_US);
	}
	print_latencies(bench);
}

static void work(struct bench *bench, const char *name)
{
	static const struct {
		const char *name;
		void (*run)(struct bench *bench);
	} works[] = { { "stream", work_stream }, { "one", work_one }, { "paced", work_paced } };

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (strcmp(works[i].name, name) != 0)
			continue;
		start_consumers(bench);
		bench->producer = bench->peer->open_producer(&bench->load);
		works[i].run(bench);
		await_acknowledged(bench);
		stop_consumers(bench);
		return;
	}
	die("there is no work %s: stream, one or paced", name);
}

/* --- the command --- */

static uint64_t option(int argc, char **argv, const char *name, uint64_t usual)
{
	size_t len = strlen(name);

	for (int i = 5; i < argc; i++)
		if (strncmp(argv[i], name, len) == 0 && argv[i][len] == '=')
			return strtoull(argv[i] + len + 1, NULL, 10);
	return usual;
}

int main(int argc, char **argv)
{
	struct bench bench = { .clock = clock_system() };

	log_open("bench", LOG_WARNING);
	if (argc == 2 && strcmp(argv[1], "--manifest") == 0) {
		cartbus_print_manifest();
		return 0;
	}
	if (argc < 5)
		die("usage: bench_bus --manifest | bench_bus PEER ADDRESS stream|one|paced MESSAGES [bytes=N keys=N "
		    "consumers=N]");
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
		if (strcmp(peers[i]->name, argv[1]) == 0)
			bench.peer = peers[i];
	bench.load = (struct load){
		.address = argv[2], .bytes = option(argc, argv, "bytes", 512), .keys = option(argc, argv, "keys", 10000)
	};
	bench.messages = strtoull(argv[4], NULL, 10);
	bench.consumers = option(argc, argv, "consumers", 1);
	if (!bench.peer || bench.load.bytes > BYTES_MOST || bench.consumers > CONSUMERS_MOST || bench.messages == 0)
		die("no such system, or more than %d bytes or %d consumers", BYTES_MOST, CONSUMERS_MOST);
	bench.body = BYTES(memset(memory_new(bench.load.bytes + 1), 'b', bench.load.bytes), bench.load.bytes);
	bench.latency_us = memory_new(bench.messages * sizeof(*bench.latency_us));
	prctl(PR_SET_TIMERSLACK, 1);
	work(&bench, argv[3]);
	return 0;
}
