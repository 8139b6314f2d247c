/* test_reject.c: what could not be read is kept, and never fills the disk */
#include "bus/base/file.h"
#include "given.h"
#include "services/kit/endpoint/reject.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct rejection about(int64_t at_us_, const char *why, struct bytes body)
{
	return (struct rejection){ .at_us = at_us_,
		.shop = "demo",
		.platform = "shopify",
		.topic = "carts/create",
		.webhook_id = "w-1",
		.why = why,
		.body = body };
}

static int count_files(const char *folder)
{
	DIR *listing = opendir(folder);
	int count = 0;

	assert_non_null(listing);
	while (readdir(listing))
		count++;
	closedir(listing);
	return count - 2;
}

static void the_body_is_kept_as_it_came_behind_a_head_that_cannot_be_forged(void **state)
{
	struct rejection rejection = about(7, "not valid\nshop: forged", bytes_of("{\"a\": oops\n"));
	struct buffer text = { 0 };
	char folder[64], name[64], path[256];
	struct stat there;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", fresh_folder());
	assert_int_equal(reject_keep(folder, &rejection, name), 0);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(file_read(path, 4096, &text), 0);
	assert_string_equal(buffer_text(&text),
		"shop: demo\nplatform: shopify\ntopic: carts/create\nwebhook-id: w-1\nwhy: not valid shop: forged\n\n"
		"{\"a\": oops\n");
	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(there.st_mode & 0777, 0600);
	buffer_free(&text);
	remove_folder(folder);
}

static void the_oldest_make_room(void **state)
{
	char folder[64], name[64], first[64] = "", path[256];
	struct stat there;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", fresh_folder());
	for (int i = 0; i < REJECTS_MOST + 5; i++) {
		struct rejection rejection = about(1000 + i, "why", bytes_of("x"));

		assert_int_equal(reject_keep(folder, &rejection, name), 0);
		if (i == 0)
			snprintf(first, sizeof(first), "%s", name);
	}
	assert_int_equal(count_files(folder), REJECTS_MOST);
	snprintf(path, sizeof(path), "%s/%s", folder, first);
	assert_int_equal(stat(path, &there), -1);
	remove_folder(folder);
}

static void large_bodies_are_bounded_by_bytes(void **state)
{
	char *body = calloc(1, 1 << 20);
	char folder[64], name[64];

	(void)state;
	snprintf(folder, sizeof(folder), "%s", fresh_folder());
	for (int i = 0; i < 20; i++) {
		struct rejection rejection = about(1000 + i, "why", BYTES(body, 1 << 20));

		assert_int_equal(reject_keep(folder, &rejection, name), 0);
	}
	assert_true(count_files(folder) <= REJECTS_BYTES_MOST / (1 << 20));
	assert_true(count_files(folder) > 10);
	free(body);
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_body_is_kept_as_it_came_behind_a_head_that_cannot_be_forged),
		cmocka_unit_test(the_oldest_make_room),
		cmocka_unit_test(large_bodies_are_bounded_by_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
