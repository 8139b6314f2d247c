/* test_copy_broker.c: a private broker over a copy of the log that cannot be started */
#include "services/cartbus/backup/copy_broker.h"

#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>

static char heard[300];

pid_t __wrap_fork(void);

/* In the place of fork (the linker's --wrap). */
pid_t __wrap_fork(void)
{
	errno = EAGAIN;
	return -1;
}

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(heard, sizeof(heard), "%s", words);
}

/* A broker that was started is waited for up to an hour. */
static void one_that_cannot_be_forked_is_not_waited_for(void **state)
{
	struct command command = { .name = "backup", .hear = hear };
	struct folder folder = folder_new();
	struct copy_broker *broker = NULL;
	struct config_error error;

	(void)state;
	assert_int_equal(config_parse("[paths]\n", "cartbus.conf", settings_keys, &command.config, &error), 0);
	assert_int_equal(copy_broker_start(&command, folder.path, &broker), EXIT_NO);
	assert_string_equal(heard, "the broker of the copy could not be started: Resource temporarily unavailable");
	assert_null(broker);
	config_free(command.config);
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_cannot_be_forked_is_not_waited_for),
	};

	return cmocka_run_group_tests_name("cartbus.copy_broker", tests, NULL, NULL);
}
