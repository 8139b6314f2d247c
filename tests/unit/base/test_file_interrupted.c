/*
 * test_file_interrupted.c: files of file.c that are pipes, read and written while signals interrupt
 *
 * The other end is served by the handler of the signal, which interrupts again and again before it does.
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

enum { PIPED = 200000, PIPE_MOST = 1 << 20, ALARM_US = 1000, ALARMS_UNSERVED = 3 };
static uint8_t drained[PIPED + PIPE_MOST];
static size_t drained_len;
static int far_end, alarms;

static void drain_far_end(void)
{
	ssize_t got;
	while ((got = read(far_end, drained + drained_len, sizeof(drained) - drained_len)) > 0)
		drained_len += (size_t)got;
}

static void drain_at_last(int number)
{
	int before = errno; /* which may be about to be looked at */
	(void)number;
	if (++alarms > ALARMS_UNSERVED)
		drain_far_end();
	errno = before;
}

static void fill_at_last(int number)
{
	int before = errno;
	(void)number;
	if (++alarms == ALARMS_UNSERVED && write(far_end, "late", 4) == 4)
		close(far_end);
	errno = before;
}

static void begin_alarms(void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler }; /* without SA_RESTART */
	const struct itimerval every = { { .tv_usec = ALARM_US }, { .tv_usec = ALARM_US } };
	alarms = 0;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static void end_alarms(void)
{
	const struct itimerval never = { 0 };
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	signal(SIGALRM, SIG_DFL);
}

static void all_of_it_is_written_though_signals_interrupt(void **state)
{
	(void)state;
	static uint8_t content[PIPED];
	size_t before = 0;
	int ends[2];
	for (size_t i = 0; i < PIPED; i++)
		content[i] = (uint8_t)(i % 251);
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	far_end = ends[0];
	while (write(ends[1], "b", 1) == 1)
		before++;
	assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0); /* it is full, and waits from here on */
	begin_alarms(drain_at_last);
	assert_int_equal(file_write(ends[1], BYTES(content, PIPED)), 0);
	end_alarms();
	drain_far_end();
	assert_int_equal(drained_len, before + PIPED);
	assert_memory_equal(drained + before, content, PIPED);
	close(ends[0]);
	close(ends[1]);
}

static void all_of_it_is_read_though_signals_interrupt(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char path[128];
	FOLDER_PATH(path, folder, "pipe");
	assert_int_equal(mkfifo(path, 0600), 0);
	far_end = open(path, O_RDWR | O_CLOEXEC);
	assert_true(far_end >= 0);
	begin_alarms(fill_at_last);
	int r = file_read(path, 4, &content);
	end_alarms();
	assert_int_equal(r, 0);
	assert_string_equal(buffer_text(&content), "late");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_written_though_signals_interrupt),
		cmocka_unit_test(all_of_it_is_read_though_signals_interrupt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
