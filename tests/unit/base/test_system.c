/*
 * test_system.c: the thin layers over the system: a socket that listens, a spare descriptor, no core files, one datagram to a journal
 */
#include "bus/base/cleanup.h"
#include "bus/base/dumps.h"
#include "bus/base/journal.h"
#include "bus/base/listen_at.h"
#include "bus/base/spare.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* ---- listen_at ---- */

static int option_of(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, name, &value, &len), 0);
	return value;
}

static void port_of(int fd, char ret[8])
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	snprintf(ret, 8, "%d", ntohs(address.sin_port));
}

static void a_socket_listens_where_it_is_told_to_and_never_blocks(void **state)
{
	_cleanup_close_ int fd = listen_at("127.0.0.1", "0", 5);
	char port[8];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(option_of(fd, SO_TYPE), SOCK_STREAM);
	assert_int_equal(option_of(fd, SO_ACCEPTCONN), 1);
	assert_int_equal(option_of(fd, SO_REUSEADDR), 1); /* a program that begins anew finds its port */
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	port_of(fd, port);
	assert_int_equal(listen_at("127.0.0.1", port, 5), -EADDRINUSE);
}

static void an_address_may_be_taken_without_listening(void **state)
{
	_cleanup_close_ int fd = listen_at("127.0.0.1", "0", 0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(option_of(fd, SO_ACCEPTCONN), 0);
}

static void an_address_that_is_none_or_not_ours_is_told_apart(void **state)
{
	(void)state;
	assert_int_equal(listen_at("shop.example", "0", 5), -EINVAL);
	assert_int_equal(listen_at("127.0.0.1", "none", 5), -EINVAL);
	assert_int_equal(listen_at("192.0.2.1", "0", 5), -EADDRNOTAVAIL); /* RFC 5737: nobody's */
}

static int lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

static void what_fails_leaves_nothing_open(void **state)
{
	int lowest = lowest_free_descriptor();

	(void)state;
	listen_at("192.0.2.1", "0", 5);
	assert_int_equal(lowest_free_descriptor(), lowest);
}

/* ---- the spare descriptor ---- */

static void the_spare_is_lent_where_no_other_is_left(void **state)
{
	struct spare spare = { .fd = -1 };
	struct rlimit before, full;
	int lent;

	(void)state;
	spare_keep(&spare);
	assert_true(spare.fd >= 0);
	assert_int_equal(fcntl(spare.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	lent = spare.fd;
	spare_keep(&spare);
	assert_int_equal(spare.fd, lent); /* one, and not one more each time */
	assert_true(spare_lend(&spare));
	assert_int_equal(lowest_free_descriptor(), lent);
	spare_keep(&spare);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	full = before;
	full.rlim_cur = (rlim_t)lowest_free_descriptor();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), -1);
	assert_int_equal(errno, EMFILE);
	assert_true(spare_lend(&spare));
	assert_int_equal(spare.fd, -1);
	lent = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(lent >= 0);
	assert_false(spare_lend(&spare)); /* it is in use */
	assert_int_equal(spare.fd, -1);
	close(lent);
	assert_true(spare_lend(&spare)); /* taken, and set free again */
	spare_keep(&spare);
	assert_true(spare.fd >= 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(spare.fd);
}

/* ---- core files ---- */

static int forbid_in_a_child(void)
{
	const struct rlimit some = { 1000, RLIM_INFINITY };
	struct rlimit found = { 1, 1 };
	pid_t child = fork();
	int status;

	if (child == 0) {
		setrlimit(RLIMIT_CORE, &some);
		prctl(PR_SET_DUMPABLE, 1);
		dumps_forbid();
		getrlimit(RLIMIT_CORE, &found);
		_exit((found.rlim_cur == 0 ? 1 : 0) | (found.rlim_max == 0 ? 2 : 0) |
			(prctl(PR_GET_DUMPABLE) == 0 ? 4 : 0));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A core holds secrets and addresses. */
static void there_are_no_core_files_unless_somebody_asks_for_them(void **state)
{
	(void)state;
	unsetenv("CARTBUS_DUMPS");
	assert_int_equal(forbid_in_a_child(), 7);
	setenv("CARTBUS_DUMPS", "1", 1);
	assert_int_equal(forbid_in_a_child() & 5, 0);
	unsetenv("CARTBUS_DUMPS");
}

/* ---- the journal ---- */

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
		cmocka_unit_test(a_socket_listens_where_it_is_told_to_and_never_blocks),
		cmocka_unit_test(an_address_may_be_taken_without_listening),
		cmocka_unit_test(an_address_that_is_none_or_not_ours_is_told_apart),
		cmocka_unit_test(what_fails_leaves_nothing_open),
		cmocka_unit_test(the_spare_is_lent_where_no_other_is_left),
		cmocka_unit_test(there_are_no_core_files_unless_somebody_asks_for_them),
		cmocka_unit_test(a_datagram_holds_each_field_that_says_something),
		cmocka_unit_test(a_full_journal_is_not_waited_for),
		cmocka_unit_test(a_path_must_fit_into_an_address),
		cmocka_unit_test(the_journal_reads_stderr_only_if_it_is_the_stream_that_it_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
