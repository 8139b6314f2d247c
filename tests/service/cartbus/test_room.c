/* test_room.c: how much of a disk has to stay free */
#include "services/cartbus/backup/backup_folder.h"

#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static void the_headroom_is_the_larger_of_a_size_and_a_part(void **state)
{
	static const struct {
		const char *text;
		uint64_t disk_bytes, wanted;
	} cases[] = {
		{ "", UINT64_C(1) << 30, UINT64_C(128) << 20 },
		{ "", UINT64_C(128) << 20, UINT64_C(128) << 20 },
		{ "", UINT64_C(100) << 30, UINT64_C(1) << 30 },
		{ "headroom = 256\n", UINT64_C(10) << 30, UINT64_C(256) << 20 },
		{ "headroom-percent = 10\n", UINT64_C(100) << 30, UINT64_C(10) << 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config *config = NULL;
		struct config_error error;
		char text[100];

		snprintf(text, sizeof(text), "[broker]\n%s", cases[i].text);
		assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &config, &error), 0);
		assert_int_equal(room_headroom(config, cases[i].disk_bytes), cases[i].wanted);
		config_free(config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_headroom_is_the_larger_of_a_size_and_a_part),
	};

	return cmocka_run_group_tests_name("cartbus.room", tests, NULL, NULL);
}
