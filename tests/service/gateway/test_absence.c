/* test_absence.c: how long nobody could reach the gateway, and what it says when it is back */
#include "bus/wire/message.h"
#include "proto/topics.h"
#include "services/gateway/absence.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <fcntl.h>
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

	assert_int_equal(message_read(buffer_bytes(message), &envelope, &payload), 0);
	assert_string_equal(envelope.topic, "gateway.away");
	assert_string_equal(envelope.shop, SHOP_OF_ALL);
	assert_string_equal(envelope.key, "gateway-1");
	stream = pb_istream_from_buffer(payload.data, payload.len);
	assert_true(pb_decode(&stream, &GatewayAway_msg, &away));
	return away;
}

static void a_gateway_that_was_never_there_was_not_away(void **state)
{
	struct absence absence = { 0 };
	struct buffer message = { 0 };

	assert_false(absence_begin(&absence, *state, "gateway-1", &now, &message));
	assert_int_equal(message.len, 0);
	assert_in_range(age_us(*state), 0, 5 * US_PER_S);
}

static void a_restart_is_no_absence(void **state)
{
	struct absence absence = { 0 };
	struct buffer message = { 0 };

	absence_begin(&absence, *state, "gateway-1", &now, &message);
	left_alone_for(*state, 50 * US_PER_S);
	assert_false(absence_begin(&absence, *state, "gateway-1", &now, &message));
	assert_in_range(age_us(*state), 0, 5 * US_PER_S);
}

static void an_absence_is_told_until_it_is_safe_to_forget_it(void **state)
{
	struct absence absence = { 0 };
	struct buffer message = { 0 };
	GatewayAway away;

	absence_begin(&absence, *state, "gateway-1", &now, &message);
	left_alone_for(*state, US_PER_HOUR);
	assert_true(absence_begin(&absence, *state, "gateway-1", &now, &message));
	away = said(&message);
	assert_in_range(away.back_us - away.from_us, US_PER_HOUR - US_PER_S, US_PER_HOUR + 10 * US_PER_S);
	assert_in_range(away.hold_until_us - away.back_us, US_PER_HOUR - US_PER_S, US_PER_HOUR + 10 * US_PER_S);
	buffer_clear(&message);
	assert_true(absence_begin(&absence, *state, "gateway-1", &now, &message)); /* it died before it had kept it */
	assert_true(absence_keep(&absence) > 0);
	buffer_clear(&message);
	assert_false(absence_begin(&absence, *state, "gateway-1", &now, &message));
	buffer_free(&message);
}

static void mails_wait_as_long_as_it_was_away_but_never_past_the_last_repetition(void **state)
{
	(void)state;
	assert_int_equal(absence_hold_us(-US_PER_DAY), 0);
	assert_int_equal(absence_hold_us(US_PER_MINUTE - 1), 0);
	assert_int_equal(absence_hold_us(US_PER_MINUTE), US_PER_MINUTE);
	assert_int_equal(absence_hold_us(4 * US_PER_HOUR), 4 * US_PER_HOUR);
	assert_int_equal(absence_hold_us(30 * US_PER_DAY), 4 * US_PER_HOUR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gateway_that_was_never_there_was_not_away, in_a_folder, without_it),
		cmocka_unit_test_setup_teardown(a_restart_is_no_absence, in_a_folder, without_it),
		cmocka_unit_test_setup_teardown(
			an_absence_is_told_until_it_is_safe_to_forget_it, in_a_folder, without_it),
		cmocka_unit_test(mails_wait_as_long_as_it_was_away_but_never_past_the_last_repetition),
	};

	now = clock_system();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
