/*
 * test_reader.c: a mail that kills its reader is given up, and the one behind it is read
 *
 * The reader starts its own program: this one, whose main() then is a reader that does as the mail's text says.
 */
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "services/platform/mailin/reader.h"
#include "tests/unit/cmocka_all.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWERS_MOST = 8, WAIT_MS = 20000, SERVES_ON = 3 };

/* ---- the other end ---- */

static int take_descriptor(void)
{
	char one, control[CMSG_SPACE(sizeof(int))];
	int fd = -1;
	struct iovec iov = { .iov_base = &one, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	if (recvmsg(SERVES_ON, &message, 0) > 0)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static void obey(const char *text)
{
	if (strcmp(text, "die") == 0 || (strcmp(text, "die once") == 0 && mkdir(getenv("DIED"), 0700) == 0))
		_exit(1);
	while (strcmp(text, "hang") == 0)
		pause();
	if (strcmp(text, "nonsense") == 0)
		send(SERVES_ON, "nonsense", 8, 0);
}

/* It dies before it has received the mail: the other end of its socket then gets ECONNRESET, and not an end of file. */
static void leave_unread(void)
{
	struct pollfd mail = { .fd = SERVES_ON, .events = POLLIN };

	poll(&mail, 1, WAIT_MS);
	_exit(1);
}

static void serve(void)
{
	static struct report report; /* large */
	if (getenv("LEAVES"))
		leave_unread();
	for (int fd; (fd = take_descriptor()) >= 0; close(fd)) {
		char text[100] = "";
		if (pread(fd, text, sizeof(text) - 1, 0) < 0)
			_exit(1);
		obey(text);
		memset(&report, 0, sizeof(report));
		snprintf(report.detail, sizeof(report.detail), "%s", text);
		if (strcmp(text, "unsound") == 0)
			report.address_count = 1000000;
		send(SERVES_ON, &report, sizeof(report), 0);
	}
	_exit(0);
}

/* ---- this end ---- */

struct fixture {
	struct clock clock;
	struct reader *reader;
	int count;
	struct answer {
		enum reader_end end;
		char detail[200];
	} answers[ANSWERS_MOST];
	struct reading readings[ANSWERS_MOST];
};

static void note(void *context, enum reader_end end, const struct report *report)
{
	struct fixture *f = context;
	f->answers[f->count].end = end;
	snprintf(f->answers[f->count++].detail, 200, "%s", report ? report->detail : "");
}

static void work_until(struct fixture *f, int count)
{
	struct pollfd polled = { .fd = reader_fd(f->reader), .events = POLLIN };
	while (f->count < count) {
		if (poll(&polled, 1, WAIT_MS) <= 0)
			fail_msg("no answer to mail %d", f->count);
		reader_work(f->reader);
	}
}

static void give(struct fixture *f, int nth, const char *text)
{
	reader_read(f->reader, &f->readings[nth], bytes_of(text), note, f);
}

static int begin(void **state)
{
	static struct fixture f;
	char folder[] = "/tmp/cartbus-reader-XXXXXX", died[100];
	f = (struct fixture){ .clock = clock_virtual(1000 * US_PER_S) };
	f.reader = reader_new(&f.clock, NULL);
	snprintf(died, sizeof(died), "%s/died", mkdtemp(folder));
	setenv("DIED", died, 1);
	*state = &f;
	return 0;
}

static int finish(void **state)
{
	struct fixture *f = *state;
	char folder[100];

	unsetenv("LEAVES");
	reader_free(f->reader);
	rmdir(getenv("DIED"));
	snprintf(folder, sizeof(folder), "%.*s", (int)(strlen(getenv("DIED")) - strlen("/died")), getenv("DIED"));
	rmdir(folder);
	return 0;
}

static void must_have(const struct fixture *f, int nth, enum reader_end end, const char *detail)
{
	assert_int_equal(f->answers[nth].end, end);
	assert_string_equal(f->answers[nth].detail, detail);
}

static void mails_are_answered_in_their_order_by_one_reader(void **state)
{
	struct fixture *f = *state;
	give(f, 0, "a");
	give(f, 1, "b");
	give(f, 2, "");
	work_until(f, 3);
	must_have(f, 0, READER_READ, "a");
	must_have(f, 1, READER_READ, "b");
	must_have(f, 2, READER_READ, "");
}

static void a_mail_that_kills_two_readers_is_given_up_and_the_next_is_read(void **state)
{
	struct fixture *f = *state;
	give(f, 0, "die");
	give(f, 1, "good");
	give(f, 2, "nonsense");
	give(f, 3, "unsound");
	give(f, 4, "good too");
	work_until(f, 5);
	must_have(f, 0, READER_DIED, "");
	must_have(f, 1, READER_READ, "good");
	must_have(f, 2, READER_DIED, "");
	must_have(f, 3, READER_DIED, "");
	must_have(f, 4, READER_READ, "good too");
}

static void a_mail_that_is_never_taken_is_given_up(void **state)
{
	struct fixture *f = *state;
	setenv("LEAVES", "1", 1);
	give(f, 0, "good");
	work_until(f, 1);
	must_have(f, 0, READER_DIED, "");
	unsetenv("LEAVES");
	give(f, 1, "good");
	work_until(f, 2);
	must_have(f, 1, READER_READ, "good");
}

static void a_reader_that_has_not_answered_yet_is_waited_for(void **state)
{
	struct fixture *f = *state;
	give(f, 0, "hang");
	for (int i = 0; i < 3; i++)
		reader_work(f->reader);
	assert_int_equal(f->count, 0);
	assert_int_equal(reader_deaths(f->reader), 0);
}

static void a_mail_whose_reader_died_once_is_read(void **state)
{
	struct fixture *f = *state;
	give(f, 0, "die once");
	work_until(f, 1);
	must_have(f, 0, READER_READ, "die once");
}

static void a_mail_that_finds_no_end_is_given_up(void **state)
{
	struct fixture *f = *state;
	give(f, 0, "hang");
	give(f, 1, "good");
	for (int i = 0; i < 2; i++) {
		int64_t left_us = reader_look(f->reader);
		assert_in_range(left_us, 1, US_PER_MINUTE);
		f->clock.virtual_us += left_us;
		reader_look(f->reader);
	}
	assert_int_equal(f->count, 1);
	work_until(f, 2);
	must_have(f, 0, READER_DIED, "");
	must_have(f, 1, READER_READ, "good");
}

static void a_mail_that_nobody_waits_for_any_more_is_answered_to_nobody(void **state)
{
	struct fixture *f = *state;
	give(f, 0, "gone while it is read");
	give(f, 1, "gone while it waits");
	give(f, 2, "good");
	reader_forget(f->reader, &f->readings[0]);
	reader_forget(f->reader, &f->readings[1]);
	work_until(f, 1);
	must_have(f, 0, READER_READ, "good");
	reader_forget(f->reader, &f->readings[2]); /* answered: changes nothing */
	give(f, 3, "next");
	work_until(f, 2);
	must_have(f, 1, READER_READ, "next");
}

static void a_reader_without_work_goes_and_a_new_one_comes(void **state)
{
	struct fixture *f = *state;
	give(f, 0, "a");
	work_until(f, 1);
	f->clock.virtual_us += 2 * US_PER_MINUTE;
	assert_int_equal(reader_look(f->reader), -1);
	give(f, 1, "b");
	work_until(f, 2);
	must_have(f, 1, READER_READ, "b");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mails_are_answered_in_their_order_by_one_reader, begin, finish),
		cmocka_unit_test_setup_teardown(
			a_mail_that_kills_two_readers_is_given_up_and_the_next_is_read, begin, finish),
		cmocka_unit_test_setup_teardown(a_mail_that_is_never_taken_is_given_up, begin, finish),
		cmocka_unit_test_setup_teardown(a_reader_that_has_not_answered_yet_is_waited_for, begin, finish),
		cmocka_unit_test_setup_teardown(a_mail_whose_reader_died_once_is_read, begin, finish),
		cmocka_unit_test_setup_teardown(a_mail_that_finds_no_end_is_given_up, begin, finish),
		cmocka_unit_test_setup_teardown(
			a_mail_that_nobody_waits_for_any_more_is_answered_to_nobody, begin, finish),
		cmocka_unit_test_setup_teardown(a_reader_without_work_goes_and_a_new_one_comes, begin, finish),
	};
	if (argc == 2 && strcmp(argv[1], READER_ARGUMENT) == 0)
		serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
