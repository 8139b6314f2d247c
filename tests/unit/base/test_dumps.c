/* test_dumps.c: a process that leaves no core file */
#include "bus/base/memory.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMITS_AS_THEY_WERE = 1, NO_CORES = 2, NOT_DUMPABLE = 4 };

/* The child inherits the limits of the shell that runs the test. Where that shell forbids core files, they are zero before and after. */
static int forbid_in_a_child(void)
{
	struct rlimit before, found = { 1, 1 };
	pid_t child = fork();
	int status;

	if (child == 0) {
		getrlimit(RLIMIT_CORE, &before);
		before.rlim_cur = before.rlim_max;
		setrlimit(RLIMIT_CORE, &before);
		prctl(PR_SET_DUMPABLE, 1);
		dumps_forbid();
		getrlimit(RLIMIT_CORE, &found);
		_exit((memcmp(&found, &before, sizeof(found)) == 0 ? LIMITS_AS_THEY_WERE : 0) |
			(found.rlim_cur == 0 && found.rlim_max == 0 ? NO_CORES : 0) |
			(prctl(PR_GET_DUMPABLE) == 0 ? NOT_DUMPABLE : 0));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A core holds secrets and addresses. */
static void there_are_no_core_files_unless_somebody_asks_for_them(void **state)
{
	const int forbidden = NO_CORES | NOT_DUMPABLE;

	(void)state;
	unsetenv("CARTBUS_DUMPS");
	assert_int_equal(forbid_in_a_child() & forbidden, forbidden);
	setenv("CARTBUS_DUMPS", "1", 1);
	assert_int_equal(forbid_in_a_child() & (LIMITS_AS_THEY_WERE | NOT_DUMPABLE), LIMITS_AS_THEY_WERE);
	unsetenv("CARTBUS_DUMPS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_no_core_files_unless_somebody_asks_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
