/* test_downtime.c: how long nobody could reach the gateway, and what it says when it is back */
#include "bus/wire/message.h"
#include "proto/platform_topics.h"
#include "services/platform/gateway/downtime.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <fcntl.h>
#include <inttypes.h>
#include <pb_decode.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct clock now;
static struct folder folder;

static int in_a_folder(void **state)
{
	folder = folder_new();
	*state = folder.path;
	return 0;
}

static int without_it(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static int64_t age_us(const char *of)
{
	char path[600];
	struct stat seen;
	struct timespec then;

	snprintf(path, sizeof(path), "%s/alive", of);
	assert_int_equal(stat(path, &seen), 0);
	clock_gettime(CLOCK_REALTIME, &then); /* time() may be a tick behind a file that was touched just now */
	return (then.tv_sec - seen.st_mtim.tv_sec) * US_PER_S;
}

static void left_alone_for(const char *of, int64_t us)
{
	char path[600];
	struct timespec then = { .tv_sec = time(NULL) - us / US_PER_S };

	snprintf(path, sizeof(path), "%s/alive", of);
	assert_int_equal(utimensat(AT_FDCWD, path, (const struct timespec[2]){ then, then }, 0), 0);
}

static GatewayAway said(const struct buffer *message)
{
	static Envelope envelope;
	GatewayAway away = GatewayAway_init_zero;
	struct bytes payload;
	pb_istream_t stream;
	char idem[80];

	assert_int_equal(message_read(buffer_bytes(message), &envelope, &payload), 0);
	assert_string_equal(envelope.topic, "gateway.away");
	assert_string_equal(envelope.shop, SHOP_OF_ALL);
	assert_string_equal(envelope.key, "gateway-1");
	stream = pb_istream_from_buffer(payload.data, payload.len);
	assert_true(pb_decode(&stream, &GatewayAway_msg, &away));
	assert_string_equal(away.gateway, "gateway-1");
	assert_int_equal(envelope.version, away.back_us);
	snprintf(idem, sizeof(idem), "away:gateway-1:%" PRId64, away.back_us);
	assert_string_equal(envelope.idem, idem);
	return away;
}

static void a_gateway_that_was_never_there_was_not_away(void **state)
{
	struct downtime downtime = { 0 };
	struct buffer message = { 0 };

	assert_false(downtime_begin(&downtime, *state, "gateway-1", &now, &message));
	assert_int_equal(message.len, 0);
	assert_in_range(age_us(*state), 0, 40 * US_PER_S);
}

static void a_restart_is_no_absence(void **state)
{
	struct downtime downtime = { 0 };
	struct buffer message = { 0 };

	downtime_begin(&downtime, *state, "gateway-1", &now, &message);
	left_alone_for(*state, 50 * US_PER_S);
	assert_false(downtime_begin(&downtime, *state, "gateway-1", &now, &message));
	assert_in_range(age_us(*state), 0, 40 * US_PER_S);
}

static void an_absence_is_told_until_it_is_safe_to_forget_it(void **state)
{
	struct downtime downtime = { 0 };
	struct buffer message = { 0 };
	GatewayAway away;

	downtime_begin(&downtime, *state, "gateway-1", &now, &message);
	left_alone_for(*state, US_PER_HOUR);
	assert_true(downtime_begin(&downtime, *state, "gateway-1", &now, &message));
	away = said(&message);
	assert_in_range(away.back_us - away.from_us, US_PER_HOUR - US_PER_S, US_PER_HOUR + 10 * US_PER_S);
	assert_in_range(away.hold_until_us - away.back_us, US_PER_HOUR - US_PER_S, US_PER_HOUR + 10 * US_PER_S);
	buffer_clear(&message);
	assert_true(downtime_begin(&downtime, *state, "gateway-1", &now, &message)); /* it died before it had kept it */
	assert_true(downtime_keep(&downtime) > 0);
	buffer_clear(&message);
	assert_false(downtime_begin(&downtime, *state, "gateway-1", &now, &message));
	buffer_free(&message);
}

/* The lowest number that no descriptor has: it grows when one is left open. */
static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void while_it_lives_its_sign_of_life_is_young_and_for_itself_alone(void **state)
{
	struct clock clock = clock_virtual(US_PER_HOUR);
	struct downtime downtime = { 0 };
	struct buffer message = { 0 };
	char path[600];
	struct stat found;
	int first = next_descriptor();

	downtime_begin(&downtime, *state, "gateway-1", &clock, &message);
	left_alone_for(*state, US_PER_HOUR);
	for (int64_t s = 0; s < 10; s++) {
		assert_int_equal(downtime_keep(&downtime), (10 - s) * US_PER_S);
		assert_true(age_us(*state) >= US_PER_HOUR - US_PER_S);
		clock.virtual_us += US_PER_S;
	}
	for (int nth = 0; nth < 5; nth++) {
		assert_int_equal(downtime_keep(&downtime), 10 * US_PER_S);
		assert_in_range(age_us(*state), 0, 40 * US_PER_S);
		left_alone_for(*state, US_PER_HOUR);
		clock.virtual_us += 10 * US_PER_S;
	}
	assert_int_equal(next_descriptor(), first);
	snprintf(path, sizeof(path), "%s/alive", (const char *)*state);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07177, 0);
}

static void mails_wait_as_long_as_it_was_away_but_never_past_the_last_repetition(void **state)
{
	(void)state;
	assert_int_equal(downtime_hold_us(-US_PER_DAY), 0);
	assert_int_equal(downtime_hold_us(US_PER_MINUTE - 1), 0);
	assert_int_equal(downtime_hold_us(US_PER_MINUTE), US_PER_MINUTE);
	assert_int_equal(downtime_hold_us(4 * US_PER_HOUR), 4 * US_PER_HOUR);
	assert_int_equal(downtime_hold_us(30 * US_PER_DAY), 4 * US_PER_HOUR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gateway_that_was_never_there_was_not_away, in_a_folder, without_it),
		cmocka_unit_test_setup_teardown(a_restart_is_no_absence, in_a_folder, without_it),
		cmocka_unit_test_setup_teardown(
			an_absence_is_told_until_it_is_safe_to_forget_it, in_a_folder, without_it),
		cmocka_unit_test_setup_teardown(
			while_it_lives_its_sign_of_life_is_young_and_for_itself_alone, in_a_folder, without_it),
		cmocka_unit_test(mails_wait_as_long_as_it_was_away_but_never_past_the_last_repetition),
	};

	now = clock_system();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
