/*
 * test_rocks_options.c: what the database says of its own settings (the file OPTIONS in its folder)
 *
 * What a setting does shows only under load, in years, or in a power cut: here is what they have to be, and why.
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/store/store.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <dirent.h>
#include <string.h>

enum { BUFFER = 8 << 20 };

static const char *const families[] = { "asked", "other", NULL };

static struct store *opened(const struct folder *folder, size_t write_buffer_bytes, uint32_t asked_in_vain)
{
	const struct store_options options = { .families = families,
		.cache_bytes = 1 << 20,
		.write_buffer_bytes = write_buffer_bytes,
		.asked_in_vain = asked_in_vain };
	struct store *store = NULL;
	char why[512] = "";

	if (store_open(folder->path, &options, &store, why) != 0)
		fail_msg("%s", why);
	return store;
}

static struct buffer settings_of(const struct folder *folder)
{
	char name[64] = "", path[160];
	DIR *listing = opendir(folder->path);
	struct buffer text = { 0 };

	assert_non_null(listing);
	for (struct dirent *entry; (entry = readdir(listing));)
		if (text_starts(entry->d_name, "OPTIONS-") && strcmp(entry->d_name, name) > 0)
			TEXT_COPY(name, entry->d_name);
	closedir(listing);
	FOLDER_PATH(path, *folder, name);
	assert_int_equal(file_read(path, 1 << 20, &text), 0);
	return text;
}

/* In the section of this name. */
static void expect(struct buffer *text, const char *section, const char *name, const char *wanted)
{
	char head[100], line[100], value[100] = "";
	const char *begin, *end, *at;

	snprintf(head, sizeof(head), "\n[%s]\n", section);
	begin = strstr(buffer_text(text), head);
	assert_non_null(begin);
	begin += strlen(head);
	end = strstr(begin, "\n[");
	snprintf(line, sizeof(line), "  %s=", name);
	at = strstr(begin, line);
	if (!at || (end && at > end))
		fail_msg("[%s] has no %s", section, name);
	at += strlen(line);
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, "\n"), at);
	if (strcmp(value, wanted) != 0)
		fail_msg("[%s] %s=%s, not %s", section, name, value, wanted);
}

#define OF_DATABASE "DBOptions"
#define OF_FAMILY(name) "CFOptions \"" name "\""
#define OF_TABLE(name) "TableOptions/BlockBasedTable \"" name "\""

static void the_database_is_set_as_its_promises_need_it(void **state)
{
	static const struct {
		const char *section, *name, *value;
	} wanted[] = {
		/* what is corrupt is refused, and nothing that lost or reordered records in 7.8 is on */
		{ OF_DATABASE, "paranoid_checks", "true" },
		{ OF_DATABASE, "recycle_log_file_num", "0" },
		{ OF_DATABASE, "manual_wal_flush", "false" },
		{ OF_DATABASE, "wal_compression", "kNoCompression" },
		/* a broker has 1024 descriptors, and lanes need most of them */
		{ OF_DATABASE, "max_open_files", "128" },
		{ OF_DATABASE, "table_cache_numshardbits", "0" },
		/* what lies beside the data is bounded: the notes, the diary and its level (FATAL), no statistics */
		{ OF_DATABASE, "max_manifest_file_size", "4194304" },
		{ OF_DATABASE, "info_log_level", "HEADER_LEVEL" },
		{ OF_DATABASE, "max_log_file_size", "262144" },
		{ OF_DATABASE, "keep_log_file_num", "2" },
		{ OF_DATABASE, "stats_dump_period_sec", "0" },
		{ OF_DATABASE, "stats_persist_period_sec", "0" },
		{ OF_DATABASE, "max_background_jobs", "4" },
		/* levels and files in write buffers, so that a compaction takes a moment */
		{ OF_FAMILY("other"), "write_buffer_size", "8388608" },
		{ OF_FAMILY("other"), "max_bytes_for_level_base", "33554432" },
		{ OF_FAMILY("other"), "target_file_size_base", "16777216" },
		{ OF_FAMILY("other"), "arena_block_size", "65536" },
		{ OF_FAMILY("other"), "compression", "kLZ4Compression" },
		/* the cache bounds indexes and filters too, which are read in pieces */
		{ OF_TABLE("other"), "cache_index_and_filter_blocks", "true" },
		{ OF_TABLE("other"), "pin_l0_filter_and_index_blocks_in_cache", "true" },
		{ OF_TABLE("other"), "whole_key_filtering", "true" },
		{ OF_TABLE("other"), "index_type", "kTwoLevelIndexSearch" },
		{ OF_TABLE("other"), "partition_filters", "true" },
		{ OF_TABLE("other"), "metadata_block_size", "4096" },
		{ OF_TABLE("other"), "pin_top_level_index_and_filter", "true" },
		{ OF_TABLE("other"), "filter_policy", "bloomfilter" },
		/* the filter over what is not written out yet: where keys are asked for in vain alone */
		{ OF_FAMILY("asked"), "memtable_prefix_bloom_size_ratio", "0.010000" },
		{ OF_FAMILY("asked"), "memtable_whole_key_filtering", "true" },
		{ OF_FAMILY("other"), "memtable_prefix_bloom_size_ratio", "0.000000" },
		{ OF_FAMILY("other"), "memtable_whole_key_filtering", "false" },
	};
	_cleanup_(folder_remove) struct folder folder = folder_new();
	store_close(opened(&folder, BUFFER, 1));
	_cleanup_(buffer_free) struct buffer text = settings_of(&folder);

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		expect(&text, wanted[i].section, wanted[i].name, wanted[i].value);
}

/* The second family may be the one, too. */
static void the_families_that_are_asked_in_vain_are_those_that_are_named(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	store_close(opened(&folder, BUFFER, 2));
	_cleanup_(buffer_free) struct buffer text = settings_of(&folder);

	(void)state;
	expect(&text, OF_FAMILY("other"), "memtable_whole_key_filtering", "true");
	expect(&text, OF_FAMILY("asked"), "memtable_whole_key_filtering", "false");
	expect(&text, OF_FAMILY("default"), "memtable_whole_key_filtering", "false");
}

/* Four write buffers, and never so few that a small store writes out all the time. */
static void the_write_ahead_logs_are_bounded_by_the_write_buffer(void **state)
{
	static const struct {
		size_t write_buffer_bytes;
		const char *wal_bytes;
	} cases[] = {
		{ 1 << 20, "16777216" },
		{ 4 << 20, "16777216" },
		{ (4 << 20) + (64 << 10), "17039360" },
		{ 8 << 20, "33554432" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		store_close(opened(&folder, cases[i].write_buffer_bytes, 0));
		_cleanup_(buffer_free) struct buffer text = settings_of(&folder);

		expect(&text, OF_DATABASE, "max_total_wal_size", cases[i].wal_bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_database_is_set_as_its_promises_need_it),
		cmocka_unit_test(the_families_that_are_asked_in_vain_are_those_that_are_named),
		cmocka_unit_test(the_write_ahead_logs_are_bounded_by_the_write_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
