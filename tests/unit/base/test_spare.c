/* test_spare.c: one descriptor that is kept for when no other is left */
#include "bus/base/listen_at.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/descriptors.h"
#include <errno.h>
#include <sys/resource.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_spare_is_lent_where_no_other_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
