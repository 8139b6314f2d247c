/* test_journal.c: the datagrams that the journal gets, and whether it reads stderr */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static void a_datagram_holds_each_field_that_says_something(void **state)
{
	static const struct journal_field fields[] = { { "MESSAGE", "it begins" }, { "EMPTY", "" }, { "NONE", NULL },
		{ "CARTBUS_SHOP", "demo" } };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int fd = journal_open();
	char got[200];
	ssize_t len;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	FOLDER_PATH(address.sun_path, folder, "journal");
	assert_int_equal(journal_send(fd, address.sun_path, fields, 4), -ENOENT);
	assert_int_equal(bind(journal, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(journal_send(fd, address.sun_path, fields, 4), 0);
	len = recv(journal, got, sizeof(got) - 1, MSG_DONTWAIT);
	assert_true(len > 0);
	got[len] = '\0';
	assert_string_equal(got, "MESSAGE=it begins\nCARTBUS_SHOP=demo\n");
	assert_int_equal(journal_send(fd, address.sun_path, fields, 1), 0);
	len = recv(journal, got, sizeof(got) - 1, MSG_DONTWAIT);
	got[len > 0 ? len : 0] = '\0';
	assert_string_equal(got, "MESSAGE=it begins\n");
}

/* A journal that does not read must stop nobody. */
static void a_full_journal_is_not_waited_for(void **state)
{
	static const struct journal_field field = { "MESSAGE", "it begins" };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int fd = journal_open();
	int r = 0;

	(void)state;
	FOLDER_PATH(address.sun_path, folder, "journal");
	assert_int_equal(bind(journal, (struct sockaddr *)&address, sizeof(address)), 0);
	alarm(60); /* one that waits does so for ever */
	for (int i = 0; i < 100000 && r == 0; i++)
		r = journal_send(fd, address.sun_path, &field, 1);
	alarm(0);
	assert_int_equal(r, -EAGAIN);
}

static void a_path_must_fit_into_an_address(void **state)
{
	static const struct journal_field field = { "MESSAGE", "it begins" };
	_cleanup_close_ int fd = journal_open();
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(journal_send(fd, path, &field, 1), -ENAMETOOLONG);
	path[sizeof(path) - 2] = '\0';
	assert_int_equal(journal_send(fd, path, &field, 1), -ENOENT);
}

/* systemd says which stream it reads: stderr may have been redirected since. */
static void the_journal_reads_stderr_only_if_it_is_the_stream_that_it_named(void **state)
{
	char stream[60];
	struct stat here;

	(void)state;
	assert_int_equal(fstat(STDERR_FILENO, &here), 0);
	unsetenv("JOURNAL_STREAM");
	assert_false(journal_reads_stderr());
	static const struct {
		int device, inode;
		bool is_it;
	} cases[] = { { 0, 0, true }, { 1, 0, false }, { 0, 1, false } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(stream, sizeof(stream), "%llu:%llu",
			(unsigned long long)here.st_dev + (unsigned)cases[i].device,
			(unsigned long long)here.st_ino + (unsigned)cases[i].inode);
		setenv("JOURNAL_STREAM", stream, 1);
		assert_int_equal(journal_reads_stderr(), cases[i].is_it);
	}
	snprintf(stream, sizeof(stream), "%llu", (unsigned long long)here.st_dev);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_false(journal_reads_stderr());
	setenv("JOURNAL_STREAM", "", 1);
	assert_false(journal_reads_stderr());
	unsetenv("JOURNAL_STREAM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_holds_each_field_that_says_something),
		cmocka_unit_test(a_full_journal_is_not_waited_for),
		cmocka_unit_test(a_path_must_fit_into_an_address),
		cmocka_unit_test(the_journal_reads_stderr_only_if_it_is_the_stream_that_it_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
