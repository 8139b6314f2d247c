/* test_record.c: who gives a command, for the record */
#include "services/cartbus/core/record.h"

#include "tests/unit/cmocka_all.h"
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

/* Behind sudo everybody is root. */
static void on_record_is_who_called_sudo_else_the_user(void **state)
{
	const struct passwd *user = getpwuid(getuid());

	(void)state;
	setenv("SUDO_USER", "ada", 1);
	assert_string_equal(operator_name(), "ada");
	setenv("SUDO_USER", "", 1);
	assert_string_equal(operator_name(), user ? user->pw_name : "unknown");
	unsetenv("SUDO_USER");
	assert_string_equal(operator_name(), user ? user->pw_name : "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_record_is_who_called_sudo_else_the_user),
	};

	return cmocka_run_group_tests_name("cartbus.record", tests, NULL, NULL);
}
