/* test_chunks.c: which bodies in chunks are taken, and where they end */
#include "services/kit/web/web_inside.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>

static long end_of(const char *text, size_t len)
{
	const char *why = NULL;
	long end = chunks_end(BYTES(text, len), &why);

	assert_true(end >= 0 || why);
	return end;
}

/* What lies behind the end changes nothing, and before it nothing is decided. */
static void a_body_ends_where_its_last_empty_line_does(void **state)
{
	static const char *const bodies[] = { "0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n",
		"00000005\r\n\r\n\r\n\n\r\n1\r\nx\r\n000\r\n\r\n", "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n" };
	char with_more[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		size_t len = strlen(bodies[i]);

		for (size_t came = 0; came < len; came++)
			assert_int_equal(end_of(bodies[i], came), 0);
		assert_int_equal(end_of(bodies[i], len), len);
		strcpy(with_more, bodies[i]);
		strcat(with_more, "GET / HTTP/1.1\r\n");
		assert_int_equal(end_of(with_more, strlen(with_more)), len);
	}
}

static void what_two_servers_read_differently_is_refused(void **state)
{
	static const char *const bodies[] = { "\r\n", "ZZ\r\n", " 5\r\n", "5 \r\nhello", "5\nhello", "5;x\r\nhello",
		"5;x\nhello", "+5\r\n", "0x5\r\n", "-1\r\n", "5\rhello", "5\r\nhelloX", "5\r\nhello\n0\r\n\r\n",
		"5\r\nhello\r0\r\n", "000000005\r\n", "FFFFFFFFFFFFFFFFFF\r\n", "0\r\nX: y\r\n\r\n", "0\r\n\n",
		"0\n\r\n", "0\r\n0\r\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		if (end_of(bodies[i], strlen(bodies[i])) != -EBADMSG)
			fail_msg("taken: %s", bodies[i]);
	assert_int_equal(end_of("5\r\nhello\0\r\n", 13), -EBADMSG);
}

static void a_chunk_that_says_it_is_very_large_has_not_all_come(void **state)
{
	(void)state;
	assert_int_equal(end_of("FFFFFFFF\r\nx", 11), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_ends_where_its_last_empty_line_does),
		cmocka_unit_test(what_two_servers_read_differently_is_refused),
		cmocka_unit_test(a_chunk_that_says_it_is_very_large_has_not_all_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
