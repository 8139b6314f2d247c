/*
 * timers.c: many timers, and how late they fire
 *
 *   bench_timers CONFIG set COUNT        due in 30 days; prints set_rate, and fold_rate: until the timer service has them all
 *   bench_timers CONFIG cancel COUNT     of those that were set; prints cancel_rate, and cancel_fold_rate
 *   bench_timers CONFIG fire COUNT HZ    due one after the other, beginning in 2 s; prints lateness_p99 in ms
 *   bench_timers CONFIG overdue COUNT    only sets them, due a day ago: the timer service is expected to be down
 *   bench_timers CONFIG drain COUNT      waits until those fired; prints drain_rate, and the p99 in ms of 500 new ones meanwhile
 */
#include "bus/actor/client.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/settings/settings.h"
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNCONFIRMED_MOST = 1024, NEW_MEANWHILE = 500, NEW_HZ = 100 };
#define PATIENCE_US                                                                                                    \
	(300 * US_PER_S) /* to look through ten million rows for those that fired takes a newcomer a while */
#define ROUND_US (2 * US_PER_MS)
#define DAY_US (24 * INT64_C(3600) * US_PER_S)

static struct {
	const char *prefix;
	int64_t *late_us;
	uint64_t count, others, confirmed;
} seen;

static void remember_fired(struct state *state, const struct message_meta *said, const TimerFired *fired)
{
	(void)state, (void)said;
	if (text_starts(fired->name, seen.prefix))
		seen.late_us[seen.count++] = fired->fired_us - fired->due_us;
	else
		seen.others++;
}

/* One of the services that may set such timers (carts_timer_setters); none of them runs in this bench. */
static const struct service sayer = { .name = "intake",
	.remembers = REMEMBERING(REMEMBERS(timer_fired, remember_fired)),
	.says = SAYING(SAYS(timer_set), SAYS(timer_cancel)) };

static void hear_confirm(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)context, (void)seq;
	if (result != SAID_FRESH)
		die("a timer was not taken: %s", reason ? reason : "the session broke");
	seen.confirmed++;
}

static void set_one(struct client *client, const char *prefix, uint64_t n, int64_t due_us)
{
	TimerSet set = { .version = 1, .due_us = due_us, .topic = "cart.wake" };
	CartWake wake = { .revision = 1, .due_us = due_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	snprintf(set.name, sizeof(set.name), "%s/%llu", prefix, (unsigned long long)n);
	TEXT_COPY(set.key, set.name);
	TEXT_COPY(wake.cart_id, set.name);
	if (!pb_encode(&stream, CartWake_fields, &wake))
		die("a wake does not encode");
	set.payload.size = (pb_size_t)stream.bytes_written;
	if (runtime_publish(client_runtime(client), &topic_timer_set,
		    &(struct publish_options){ .shop = "bench", .key = set.name, .version = 1 }, NULL, &set,
		    hear_confirm, NULL))
		die("cannot say a timer");
}

static void cancel_one(struct client *client, const char *prefix, uint64_t n)
{
	TimerCancel cancel = { .version = 1 };

	snprintf(cancel.name, sizeof(cancel.name), "%s/%llu", prefix, (unsigned long long)n);
	if (runtime_publish(client_runtime(client), &topic_timer_cancel,
		    &(struct publish_options){ .shop = "bench", .key = cancel.name, .version = 1, .tombstone = true },
		    NULL, &cancel, hear_confirm, NULL))
		die("cannot cancel a timer");
}

/* Sets them, the first due at first_us; first_us 0: cancels them. */
static void say_all(struct client *client, const char *prefix, uint64_t count, int64_t first_us, int64_t step_us)
{
	seen.confirmed = 0;
	for (uint64_t said = 0; seen.confirmed < count;) {
		client_work(client, 0);
		for (; said < count && said - seen.confirmed < UNCONFIRMED_MOST; said++) {
			if (first_us)
				set_one(client, prefix, said, first_us + (int64_t)said * step_us);
			else
				cancel_one(client, prefix, said);
		}
		client_work(client, ROUND_US);
	}
}

static void wait_for_fired(struct client *client, const char *prefix, uint64_t count)
{
	seen.prefix = prefix;
	while (seen.count < count)
		client_work(client, ROUND_US);
}

static int by_size(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

static double p99_ms(void)
{
	qsort(seen.late_us, seen.count, sizeof(*seen.late_us), by_size);
	return (double)seen.late_us[seen.count * 99 / 100] / US_PER_MS;
}

static double rate_since(const struct clock *clock, int64_t start_us, uint64_t count)
{
	return (double)count * US_PER_S / (double)(clock_boot_us(clock) - start_us);
}

/* Fires when the timer service has folded all that was said before. */
static void mark(struct client *client, const struct clock *clock)
{
	seen.prefix = "mark";
	set_one(client, "mark", (uint64_t)clock_boot_us(clock), clock_wall_us(clock));
	wait_for_fired(client, "mark", 1);
}

static void set(struct client *client, const struct clock *clock, uint64_t count)
{
	int64_t start_us = clock_boot_us(clock);

	say_all(client, "far", count, clock_wall_us(clock) + 30 * DAY_US, US_PER_MS);
	printf("set_rate %.0f\n", rate_since(clock, start_us, count));
	mark(client, clock);
	printf("fold_rate %.0f\n", rate_since(clock, start_us, count));
}

static void cancel(struct client *client, const struct clock *clock, uint64_t count)
{
	int64_t start_us = clock_boot_us(clock);

	say_all(client, "far", count, 0, 0);
	printf("cancel_rate %.0f\n", rate_since(clock, start_us, count));
	mark(client, clock);
	printf("cancel_fold_rate %.0f\n", rate_since(clock, start_us, count));
}

static void drain(struct client *client, const struct clock *clock, uint64_t count)
{
	int64_t start_us = clock_boot_us(clock);

	seen.prefix = "new";
	say_all(client, "new", NEW_MEANWHILE, clock_wall_us(clock) + US_PER_S, US_PER_S / NEW_HZ);
	wait_for_fired(client, "new", NEW_MEANWHILE);
	printf("new_p99 %.1f\n", p99_ms());
	printf("left_meanwhile %llu\n", (unsigned long long)(seen.others < count ? count - seen.others : 0));
	while (seen.others < count)
		client_work(client, ROUND_US);
	printf("drain_rate %.0f\n", rate_since(clock, start_us, count));
}

static void fire(struct client *client, const struct clock *clock, uint64_t count, int hz)
{
	seen.prefix = "soon";
	say_all(client, "soon", count, clock_wall_us(clock) + 2 * US_PER_S, US_PER_S / hz);
	wait_for_fired(client, "soon", count);
	printf("lateness_p99 %.1f\n", p99_ms());
}

static void run(struct client *client, const struct clock *clock, char **words)
{
	uint64_t count = strtoull(words[1], NULL, 10);

	seen.late_us = calloc(count + NEW_MEANWHILE, sizeof(*seen.late_us));
	if (strcmp(words[0], "set") == 0)
		set(client, clock, count);
	if (strcmp(words[0], "cancel") == 0)
		cancel(client, clock, count);
	if (strcmp(words[0], "overdue") == 0)
		say_all(client, "old", count, clock_wall_us(clock) - DAY_US, 1);
	if (strcmp(words[0], "drain") == 0)
		drain(client, clock, count);
	if (strcmp(words[0], "fire") == 0)
		fire(client, clock, count, atoi(words[2]));
}

int main(int argc, char **argv)
{
	struct clock clock = clock_system();
	struct config *config = NULL;
	struct config_error error = { "" };
	struct client *client = NULL;
	char why[256] = "";

	log_open("bench", LOG_WARNING);
	if (argc < 4)
		die("usage: bench_timers CONFIG set|cancel|fire|overdue|drain COUNT [HZ]");
	seen.prefix = "none";
	if (config_load(argv[1], settings_keys, &config, &error))
		die("%s", error.text);
	if (client_open(&sayer, config, &clock, PATIENCE_US, &client, why))
		die("cannot connect: %s", why);
	run(client, &clock, argv + 2);
	client_free(client);
	config_free(config);
	return 0;
}
