#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>

DEFINE_CLEANUP(struct config *, config_free)

static const struct config_key keys[] = {
	{ "gateway", "listen", "127.0.0.1", "where", .kind = CONFIG_TEXT(100) },
	{ "gateway", "port", "8080", "which port", .kind = CONFIG_PORT },
	{ "gateway", "slow", "500ms", "how long", .kind = CONFIG_SPAN(0, 365 * US_PER_DAY) },
	{ "gateway", "proxy", NULL, "who may say so", .repeated = 4, .kind = CONFIG_TEXT(100) },
	{ "mail", "from", NULL, "who writes", .kind = CONFIG_TEXT(4000) },
	{ "topic", "class", "default", "retention", .named = true, .kind = CONFIG_TEXT(100) },
	CONFIG_END,
};

static const struct config_key some_keys[] = {
	{ "gateway", "port", "8080", "which port", .kind = CONFIG_PORT },
	CONFIG_OTHERS,
	CONFIG_END,
};

static struct config *parsed(const char *text)
{
	struct config *config = NULL;
	struct config_error error = { { 0 } };
	int r = config_parse(text, "cartbus.conf", keys, &config, &error);
	if (r)
		fail_msg("%s", error.text);
	return config;
}

static void refuses(const char *text, const char *why)
{
	struct config *config = NULL;
	struct config_error error = { { 0 } };
	assert_int_equal(config_parse(text, "cartbus.conf", keys, &config, &error), -EINVAL);
	assert_null(config);
	assert_string_equal(error.text, why);
}

static int collect(const char *value, void *context)
{
	buffer_printf(context, "%s;", value);
	return strcmp(value, "stop") == 0 ? 7 : 0;
}

static void write_text(const char *path, const char *text)
{
	assert_int_equal(file_write_durably(path, bytes_of(text), 0640), 0);
}

static void what_is_not_given_falls_back(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *config = parsed("");
	assert_string_equal(config_get(config, "gateway", NULL, "port"), "8080");
	assert_null(config_get(config, "mail", NULL, "from"));
	assert_string_equal(config_get(config, "topic", "cart.state", "class"), "default");
}

static void values_comments_and_names_are_read(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *config = parsed("# a comment\n; another\n\n[gateway]\n  port = 81 ; "
							       "why\nlisten=::1\r\n[topic cart.state]\nclass = kept\n");
	assert_string_equal(config_get(config, "gateway", NULL, "port"), "81");
	assert_string_equal(config_get(config, "gateway", NULL, "listen"), "::1");
	assert_string_equal(config_get(config, "topic", "cart.state", "class"), "kept");
	assert_string_equal(config_get(config, "topic", NULL, "class"), "default");
	assert_string_equal(config_get(config, "topic", "cart", "class"), "default");
}

static void an_unknown_key_is_told_with_its_place_and_its_neighbour(void **state)
{
	(void)state;
	refuses("[gateway]\nlisten = ::\n\nprot = 1\n",
		"cartbus.conf:4: unknown key \"prot\" in [gateway]; did you mean \"port\"?");
	refuses("[gateway]\nfrom = 1\n", "cartbus.conf:2: unknown key \"from\" in [gateway]; it belongs in [mail]");
	refuses("[gateway]\nzebra = 1\n", "cartbus.conf:2: unknown key \"zebra\" in [gateway]");
}

static void an_unknown_section_is_told_with_its_neighbour(void **state)
{
	(void)state;
	refuses("[gatway]\nport = 1\n", "cartbus.conf:2: unknown section [gatway]; did you mean [gateway]?");
	refuses("[zebra]\nport = 1\n", "cartbus.conf:2: unknown section [zebra]");
	refuses("port = 1\n", "cartbus.conf:1: a key before the first [section]");
}

static void a_section_that_takes_no_name_is_given_none(void **state)
{
	(void)state;
	refuses("[mail anything]\nfrom = me\n", "cartbus.conf:2: [mail anything]: the section [mail] takes no name");
	refuses("[gateway]\nport = 1\n[gateway second]\nprot = 1\n",
		"cartbus.conf:4: [gateway second]: the section [gateway] takes no name");
	_cleanup_(config_freep) struct config *config = parsed("[topic a]\nclass = 1\n[mail ]\nfrom = me\n");
	assert_string_equal(config_get(config, "mail", NULL, "from"), "me");
}

static void a_section_that_takes_a_name_is_given_one(void **state)
{
	(void)state;
	refuses("[topic]\nclass = 1\n", "cartbus.conf:2: [topic]: a name is missing: [topic NAME]");
	refuses("[topic ]\nclass = 1\n", "cartbus.conf:2: [topic ]: a name is missing: [topic NAME]");
}

static void a_line_that_says_nothing_is_refused(void **state)
{
	(void)state;
	refuses("[gateway]\nport\n", "cartbus.conf:2: expected [section] or key = value");
	refuses("[gateway\nport = 1\n", "cartbus.conf:1: expected [section] or key = value");
}

static void a_key_that_contradicts_itself_is_refused(void **state)
{
	(void)state;
	refuses("[gateway]\nport = 1\n[mail]\n[gateway]\nport = 2\n",
		"cartbus.conf:5: \"port\" is given twice in [gateway], and line 2 says otherwise");
	_cleanup_(config_freep) struct config *config = parsed("[topic a]\nclass = 1\n[topic b]\nclass = 2\n");
	assert_string_equal(config_get(config, "topic", "b", "class"), "2");
}

static void a_key_may_repeat_itself(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_(config_freep) struct config *config =
		parsed("[topic a]\nclass = kept\n[topic b]\nclass = raw\n[topic a]\nclass = kept\n");
	assert_string_equal(config_get(config, "topic", "a", "class"), "kept");
	config_dump(config, &text);
	assert_non_null(strstr(buffer_text(&text), "[topic a]\nclass = kept\n\n[topic b]\nclass = raw\n"));
}

static void the_first_wrong_line_is_the_one_told(void **state)
{
	(void)state;
	refuses("[gateway]\nport\nprot = 1\n", "cartbus.conf:2: expected [section] or key = value");
	refuses("[gateway]\nprot = 1\nport\n",
		"cartbus.conf:2: unknown key \"prot\" in [gateway]; did you mean \"port\"?");
}

static void add_line(const char *text, void *context)
{
	buffer_printf(context, "%s\n", text);
}

static const struct config_key needing_keys[] = {
	{ "mail", "transport", "file", "how", .kind = CONFIG_WORD("file ses smtp"),
		.needs = "ses: region; smtp: host port" },
	{ "mail", "region", NULL, "where", .kind = CONFIG_WORD("north south") },
	{ "mail", "host", NULL, "who", .kind = CONFIG_TEXT(100) },
	{ "mail", "port", NULL, "which", .kind = CONFIG_PORT },
	{ "mail", "from", NULL, "who writes", .kind = CONFIG_TEXT(100), .required = true },
	CONFIG_END,
};

static void tells_all(const struct config_key *table, const char *text, int count, const char *expected)
{
	_cleanup_(buffer_free) struct buffer told = { 0 };
	assert_int_equal(config_judge_text(text, "c", table, add_line, &told), count);
	assert_string_equal(buffer_text(&told), expected);
}

static void all_that_is_wrong_is_told_in_the_order_of_the_lines(void **state)
{
	(void)state;
	tells_all(keys, "[gateway]\nport = 80\n", 0, "");
	tells_all(keys, "[gateway]\n= 81\n", 1, "c:2: unknown key \"\" in [gateway]\n");
	tells_all(keys, "[gateway]\nport ;= 81\nslow ; = 1s\nport = 80;\n", 3,
		"c:2: expected [section] or key = value\n"
		"c:3: expected [section] or key = value\n"
		"c:4: [gateway] port: expected a port from 1 to 65535, found \"80;\"\n");
	tells_all(keys,
		"[gateway]\nport\nprot = 1\nport = many\nslow = 1\nlisten = \xff\n[mail]\nport = 1\nfrom = me\n", 6,
		"c:2: expected [section] or key = value\n"
		"c:3: unknown key \"prot\" in [gateway]; did you mean \"port\"?\n"
		"c:4: [gateway] port: expected a port from 1 to 65535, found \"many\"\n"
		"c:5: [gateway] slow: expected a time like 250ms, 30s, 5min, 4h or 2d, from 0ms to 365d, found \"1\"\n"
		"c:6: not UTF-8\nc:8: unknown key \"port\" in [mail]; it belongs in [gateway]\n");
}

static int judge_in(const struct folder *folder, struct buffer *ret_told)
{
	struct config_error error = { { 0 } };
	char path[128];
	FOLDER_PATH(path, *folder, "cartbus.conf");
	buffer_clear(ret_told);
	return config_judge_file(path, keys, add_line, ret_told, &error);
}

/* Each behind the name of its file, which begins with the folder's. */
static void faults_are_told_in_the_order_of_files_and_then_what_is_in_none(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer told = { 0 };
	char path[128];
	assert_int_equal(judge_in(&folder, &told), -ENOENT);
	assert_string_equal(buffer_text(&told), "");
	FOLDER_PATH(path, folder, "cartbus.conf.d");
	assert_int_equal(file_make_folders(path, 0750), 0);
	assert_int_equal(judge_in(&folder, &told), -ENOENT); /* nothing is judged where the file itself is missing */
	assert_string_equal(buffer_text(&told), "");
	FOLDER_PATH(path, folder, "cartbus.conf.d/10-a.conf");
	write_text(path, "[gateway]\nport = no\nslow = no\n");
	FOLDER_PATH(path, folder, "cartbus.conf");
	write_text(path, "[gateway]\n\n\nport = no\n");
	assert_int_equal(judge_in(&folder, &told), 3);
	char *first = strstr(buffer_text(&told), "/cartbus.conf:4: [gateway] port");
	assert_non_null(first);
	char *second = strstr(first, "/cartbus.conf.d/10-a.conf:2: [gateway] port");
	assert_non_null(second);
	assert_non_null(strstr(second, "/cartbus.conf.d/10-a.conf:3: [gateway] slow"));
}

static void a_folder_of_drop_ins_that_cannot_be_read_is_a_fault_like_others(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer told = { 0 };
	char path[128];
	FOLDER_PATH(path, folder, "cartbus.conf.d");
	write_text(path, "no folder");
	FOLDER_PATH(path, folder, "cartbus.conf");
	write_text(path, "[gateway]\nport = no\n");
	assert_int_equal(judge_in(&folder, &told), 2);
	char *first = strstr(buffer_text(&told), "/cartbus.conf:2: [gateway] port");
	assert_non_null(first);
	assert_non_null(strstr(first, "/cartbus.conf.d: Not a directory"));
}

static void a_wrong_heading_is_told_once_and_not_for_what_stands_below_it(void **state)
{
	(void)state;
	tells_all(keys,
		"port = 1\nslow = 2\n[gatway]\nport = 1\nslow = 1\n[gateway\nport = x\n\xff\n[mail] ; why\nto = 1\n", 4,
		"c:1: a key before the first [section]\n"
		"c:4: unknown section [gatway]; did you mean [gateway]?\n"
		"c:6: expected [section] or key = value\n"
		"c:10: unknown key \"to\" in [mail]\n");
}

static void what_is_given_wrongly_is_not_missing_as_well(void **state)
{
	(void)state;
	tells_all(needing_keys, "[mail]\ntransport = ses\nregion = west\nfrom =\n", 2,
		"c:3: [mail] region: expected north or south, found \"west\"\n"
		"c:4: [mail] from: expected a text of at most 100 bytes, found \"\"\n");
	tells_all(needing_keys, "[mail]\ntransport = smtp\n", 3,
		"c:2: [mail] transport = smtp needs host, which is not given\n"
		"c:2: [mail] transport = smtp needs port, which is not given\n"
		"c: [mail] from is missing: expected a text of at most 100 bytes\n");
	tells_all(needing_keys, "[mail]\ntransport = sms\nport = no\nfrom = me\n", 2,
		"c:2: [mail] transport: expected file, ses or smtp, found \"sms\"\n"
		"c:3: [mail] port: expected a port from 1 to 65535, found \"no\"\n");
}

static void nothing_is_cut_silently(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	buffer_printf(&text, "[mail]\nfrom = %03000d\n", 7);
	_cleanup_(config_freep) struct config *config = parsed(buffer_text(&text));
	assert_int_equal(strlen(config_get(config, "mail", NULL, "from")), 3000);

	buffer_clear(&text);
	buffer_printf(&text, "[mail]\nfrom = %05000d\n", 7);
	refuses(buffer_text(&text), "cartbus.conf:2: the line is longer than 4094 bytes");
	buffer_clear(&text);
	buffer_printf(&text, "[topic %060d]\nclass = 1\n", 7);
	refuses(buffer_text(&text), "cartbus.conf:1: the name of the section is longer than 48 letters");
	buffer_clear(&text);
	buffer_printf(&text, "\xEF\xBB\xBF[topic %060d]\nclass = 1\n", 7);
	refuses(buffer_text(&text), "cartbus.conf:1: the name of the section is longer than 48 letters");
	buffer_clear(&text);
	buffer_printf(&text, "[mail]\nfrom%060d = 1\n", 7);
	refuses(buffer_text(&text), "cartbus.conf:2: the name of the key is longer than 49 letters");
}

static void what_just_fits_is_taken_and_a_letter_more_is_not(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char why[200];
	buffer_printf(&text, "[gateway]\n#%04093d\nport = 1\n", 7);
	config_free(parsed(buffer_text(&text)));
	buffer_clear(&text);
	buffer_printf(&text, "[gateway]\n#%04094d\nport = 1\n", 7);
	refuses(buffer_text(&text), "cartbus.conf:2: the line is longer than 4094 bytes");
	buffer_clear(&text);
	buffer_printf(&text, "[topic %043d]\nclass = 1\n", 7);
	refuses(buffer_text(&text), "cartbus.conf:1: the name of the section is longer than 48 letters");
	buffer_clear(&text);
	buffer_printf(&text, "[mail]\nfrom%046d=1\n", 7);
	refuses(buffer_text(&text), "cartbus.conf:2: the name of the key is longer than 49 letters");
	buffer_clear(&text);
	buffer_printf(&text, "[mail]\nfrom%045d=1\n", 7);
	snprintf(why, sizeof(why), "cartbus.conf:2: unknown key \"from%045d\" in [mail]", 7);
	refuses(buffer_text(&text), why);
}

static void however_many_values_there_are_all_are_kept(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer text = { 0 }, seen = { 0 }, expected = { 0 };
	char name[20];
	for (int i = 0; i < 100; i++) {
		buffer_printf(&text, "[topic %d]\nclass = of %d\n", i, i);
		buffer_printf(&expected, "%d;", i);
	}
	_cleanup_(config_freep) struct config *config = parsed(buffer_text(&text));
	assert_int_equal(config_each_section(config, "topic", collect, &seen), 0);
	assert_string_equal(buffer_text(&seen), buffer_text(&expected));
	snprintf(name, sizeof(name), "of %d", 57);
	assert_string_equal(config_get(config, "topic", "57", "class"), name);
}

static void a_refusal_names_the_place_of_the_value_or_of_the_key_alone(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *config = parsed("[gateway]\nport = 81\n[topic a]\nclass = x\n");
	struct config_error error = { { 0 } };
	assert_int_equal(config_refuse(config, "gateway", NULL, "port", &error, "%d is taken", 81), -EINVAL);
	assert_string_equal(error.text, "cartbus.conf:2: [gateway] port: 81 is taken");
	assert_int_equal(config_refuse(config, "topic", "a", "class", &error, "no such class"), -EINVAL);
	assert_string_equal(error.text, "cartbus.conf:4: [topic a] class: no such class");
	config_refuse(config, "topic", "b", "class", &error, "no such class");
	assert_string_equal(error.text, "[topic b] class: no such class");
	config_refuse(config, "mail", NULL, "from", &error, "it is needed");
	assert_string_equal(error.text, "[mail] from: it is needed");
}

static void what_helps_against_a_file_that_cannot_be_read_is_told(void **state)
{
	(void)state;
	assert_non_null(strstr(config_load_remedy(-ENOENT), "make it"));
	assert_non_null(strstr(config_load_remedy(-EACCES), "chmod 644"));
	assert_string_equal(config_load_remedy(-EINVAL), "");
}

static void the_longest_names_are_kept_whole(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char name[43];
	snprintf(name, sizeof(name), "%042d", 7);
	buffer_printf(&text, "[topic %s]\nclass = long\n", name); /* 48 between the brackets */
	_cleanup_(config_freep) struct config *config = parsed(buffer_text(&text));
	assert_string_equal(config_get(config, "topic", name, "class"), "long");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
	(void)state;
	refuses("[mail]\nfrom = a\x01"
		"b\n",
		"cartbus.conf:2: a control character");
	refuses("[mail]\nfrom = \xff\n", "cartbus.conf:2: not UTF-8");
	refuses("[mail]\n# \xc3\n", "cartbus.conf:2: not UTF-8");
}

static void sections_of_others_are_not_judged_where_the_table_says_so(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *config = NULL;
	struct config_error error = { { 0 } };
	const char *text = "[mail]\nanything = 1\n[gateway]\nport = 82\n";
	assert_int_equal(config_parse(text, "c", some_keys, &config, &error), 0);
	assert_string_equal(config_get(config, "gateway", NULL, "port"), "82");

	struct config *none = NULL;
	assert_int_equal(config_parse("[gateway]\nprot = 82\n", "c", some_keys, &none, &error), -EINVAL);
	assert_string_equal(error.text, "c:2: unknown key \"prot\" in [gateway]; did you mean \"port\"?");
	assert_int_equal(config_parse("port = 82\n", "c", some_keys, &none, &error), -EINVAL);
}

static void repeated_keys_keep_every_value_in_order(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer seen = { 0 };
	_cleanup_(config_freep) struct config *config =
		parsed("[gateway]\nproxy = a\nproxy = b\nport = 1\nproxy = stop\nproxy = c\n");
	assert_int_equal(config_each_value(config, "gateway", NULL, "proxy", collect, &seen), 7);
	assert_string_equal(buffer_text(&seen), "a;b;stop;");
}

static void an_empty_value_empties_a_repeated_key(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer seen = { 0 };
	_cleanup_(config_freep) struct config *config = parsed("[gateway]\nproxy = a\nproxy =\nproxy = b\n");
	assert_int_equal(config_each_value(config, "gateway", NULL, "proxy", collect, &seen), 0);
	assert_string_equal(buffer_text(&seen), "b;");
}

static void blanks_around_a_name_are_no_part_of_it(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *config =
		parsed("[gateway ]\nport = 81\n[topic \t cart.state\t ]\nclass = kept\n");
	assert_string_equal(config_get(config, "gateway", NULL, "port"), "81");
	assert_string_equal(config_get(config, "topic", "cart.state", "class"), "kept");
}

static void named_sections_come_once_each_in_order(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer seen = { 0 };
	_cleanup_(config_freep) struct config *config =
		parsed("[topic b]\nclass = 1\n[topic a]\nclass = 2\n[gateway]\nport = 4\n");
	assert_int_equal(config_each_section(config, "topic", collect, &seen), 0);
	assert_string_equal(buffer_text(&seen), "b;a;");
	buffer_clear(&seen);
	_cleanup_(config_freep) struct config *stopping =
		parsed("[topic a]\nclass = 1\n[topic stop]\nclass = 2\n[topic c]\nclass = 3\n");
	assert_int_equal(config_each_section(stopping, "topic", collect, &seen), 7);
	assert_string_equal(buffer_text(&seen), "a;stop;");
}

static void numbers_are_whole_and_within_bounds(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *good = parsed("[gateway]\nport = 65535\n"), *none = parsed("");
	assert_int_equal(config_number(good, "gateway", NULL, "port"), 65535);
	assert_int_equal(config_number(none, "gateway", NULL, "port"), 8080);

	const char *const bad[] = { "", "x", "1x", "1 2", "65536", "0", "-1", "1.5", "+1", "0x10",
		"99999999999999999999" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[64], why[200];
		snprintf(text, sizeof(text), "[gateway]\nport = %s\n", bad[i]);
		snprintf(why, sizeof(why),
			"cartbus.conf:2: [gateway] port: expected a port from 1 to 65535, found \"%s\"", bad[i]);
		refuses(text, why);
	}
}

static void spans_need_a_unit(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t us; /* -1: refused */
	} spans[] = {
		{ "250ms", 250 * US_PER_MS },
		{ "30s", 30 * US_PER_S },
		{ "5min", 5 * US_PER_MINUTE },
		{ "4h", 4 * US_PER_HOUR },
		{ "2d", 2 * US_PER_DAY },
		{ "30 s", 30 * US_PER_S },
		{ "0s", 0 },
		{ "30", -1 },
		{ "s", -1 },
		{ "-1s", -1 },
		{ "5m", -1 },
		{ "1.5h", -1 },
		{ "1h30min", -1 },
		{ "", -1 },
		{ "9999999999999999999d", -1 },
		{ "200000000d", -1 },
		{ "+1s", -1 },
	};
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		char text[64], why[200];
		snprintf(text, sizeof(text), "[gateway]\nslow = %s\n", spans[i].text);
		if (spans[i].us >= 0) {
			_cleanup_(config_freep) struct config *config = parsed(text);
			assert_int_equal(config_number(config, "gateway", NULL, "slow"), spans[i].us);
			continue;
		}
		snprintf(why, sizeof(why),
			"cartbus.conf:2: [gateway] slow: expected a time like 250ms, 30s, 5min, 4h or 2d, from 0ms to "
			"365d, found \"%s\"",
			spans[i].text);
		refuses(text, why);
	}
}

static void drop_ins_win_in_order_of_name(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(buffer_free) struct buffer seen = { 0 };
	struct config_error error = { { 0 } };
	char path[128], drop_in[256];
	FOLDER_PATH(path, folder, "cartbus.conf");
	write_text(path, "[gateway]\nport = 1\nlisten = a\nproxy = x\n");
	FOLDER_PATH(drop_in, folder, "cartbus.conf.d");
	assert_int_equal(file_make_folders(drop_in, 0750), 0);
	FOLDER_PATH(drop_in, folder, "cartbus.conf.d/20-b.conf");
	write_text(drop_in, "[gateway]\nport = 3\n");
	FOLDER_PATH(drop_in, folder, "cartbus.conf.d/10-a.conf");
	write_text(drop_in, "[gateway]\nport = 2\nproxy = y\n");
	FOLDER_PATH(drop_in, folder, "cartbus.conf.d/30-c.conf.bak");
	write_text(drop_in, "not read\n");
	FOLDER_PATH(drop_in, folder, "cartbus.conf.d/.hidden.conf");
	write_text(drop_in, "not read\n");

	assert_int_equal(config_load(path, keys, &config, &error), 0);
	assert_string_equal(config_get(config, "gateway", NULL, "port"), "3");
	assert_string_equal(config_get(config, "gateway", NULL, "listen"), "a");
	config_each_value(config, "gateway", NULL, "proxy", collect, &seen);
	assert_string_equal(buffer_text(&seen), "x;y;");
}

static int load_content(struct bytes content, struct config_error *ret_error)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(config_freep) struct config *config = NULL;
	char path[128];
	FOLDER_PATH(path, folder, "cartbus.conf");
	assert_int_equal(file_write_durably(path, content, 0640), 0);
	return config_load(path, keys, &config, ret_error);
}

static void a_file_that_is_too_large_or_no_text_is_refused(void **state)
{
	(void)state;
	enum { LARGEST = 1024 * 1024, LINE = 4096 };
	static char large[LARGEST + 1];
	struct config_error error = { { 0 } };
	memset(large, '#', sizeof(large));
	for (size_t at = LINE - 2; at < sizeof(large); at += LINE - 1)
		large[at] = '\n';
	assert_int_equal(load_content(BYTES(large, LARGEST), &error), 0);
	assert_int_equal(load_content(BYTES(large, LARGEST + 1), &error), -EFBIG);
	assert_int_equal(load_content(BYTES("[gateway]\n\0port = 1\n", 20), &error), -EINVAL);
	assert_non_null(strstr(error.text, "/cartbus.conf: not a text file"));
}

static void a_file_in_the_place_of_the_folder_of_drop_ins_is_told(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct config *config = NULL;
	struct config_error error = { { 0 } };
	char path[128], drop_ins[128];
	FOLDER_PATH(path, folder, "cartbus.conf");
	write_text(path, "[gateway]\nport = 1\n");
	FOLDER_PATH(drop_ins, folder, "cartbus.conf.d");
	write_text(drop_ins, "[gateway]\nport = 2\n");
	assert_int_equal(config_load(path, keys, &config, &error), -ENOTDIR);
	assert_non_null(strstr(error.text, "/cartbus.conf.d: Not a directory"));
}

static void a_wrong_drop_in_is_told_by_its_own_name(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct config *config = NULL;
	struct config_error error = { { 0 } };
	char path[128], drop_in[256], why[512];
	FOLDER_PATH(path, folder, "cartbus.conf");
	write_text(path, "[gateway]\nport = 1\n");
	FOLDER_PATH(drop_in, folder, "cartbus.conf.d");
	assert_int_equal(file_make_folders(drop_in, 0750), 0);
	FOLDER_PATH(drop_in, folder, "cartbus.conf.d/10-a.conf");
	write_text(drop_in, "[gateway]\nprot = 2\n");

	assert_int_equal(config_load(path, keys, &config, &error), -EINVAL);
	snprintf(why, sizeof(why), "%s:2: unknown key \"prot\" in [gateway]; did you mean \"port\"?", drop_in);
	assert_string_equal(error.text, why);

	FOLDER_PATH(drop_in, folder, "cartbus.conf.d/20-b.conf");
	write_text(drop_in, "[gateway]\nport = 2\n"); /* one that is right behind it mends nothing */
	assert_int_equal(config_load(path, keys, &config, &error), -EINVAL);
	assert_string_equal(error.text, why);
	write_text(drop_in, "[gateway]\nslwo = 2\n");
	assert_int_equal(config_load(path, keys, &config, &error), -EINVAL);
	assert_string_equal(error.text, why); /* the first that is wrong is told */
}

static void a_missing_file_is_told_by_name(void **state)
{
	(void)state;
	struct config *config = NULL;
	struct config_error error = { { 0 } };
	assert_int_equal(config_load("/nonexistent/cartbus.conf", keys, &config, &error), -ENOENT);
	assert_string_equal(error.text, "/nonexistent/cartbus.conf: No such file or directory");
}

static void what_is_dumped_reads_back_the_same(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer first = { 0 }, second = { 0 };
	_cleanup_(config_freep) struct config *config =
		parsed("[gateway]\nport = 81\nproxy = a\nproxy = b\n[topic cart.state]\nclass = kept\n");
	config_dump(config, &first);
	assert_string_equal(buffer_text(&first),
		"[gateway]\nlisten = 127.0.0.1\nport = 81\nslow = 500ms\nproxy = a\nproxy = b\n\n[mail]\n\n"
		"[topic cart.state]\nclass = kept\n");
	_cleanup_(config_freep) struct config *commented = parsed("[mail]\nfrom =;me\n");
	config_dump(commented, &second);
	assert_non_null(strstr(buffer_text(&second), "\nfrom =;me\n"));
	buffer_clear(&second);
	_cleanup_(config_freep) struct config *emptied = parsed("[gateway]\nproxy = a\nproxy =\n");
	config_dump(emptied, &second);
	assert_non_null(strstr(buffer_text(&second), "proxy =\n"));
	buffer_clear(&second);
	_cleanup_(config_freep) struct config *again = parsed(buffer_text(&first));
	config_dump(again, &second);
	assert_string_equal(buffer_text(&second), buffer_text(&first));
}

static int ignore(const char *value, void *context)
{
	(void)value, (void)context;
	return 0;
}

static void only_what_was_asked_for_differs(void **state)
{
	static const struct {
		const char *before, *after, *which;
	} cases[] = {
		{ "", "", "" },
		{ "", "[gateway]\nport = 81\n", "[gateway] port" },
		{ "[gateway]\nport = 81\n", "", "[gateway] port" },
		{ "", "[gateway]\nport = 8080\n", "" }, /* which it was anyhow */
		{ "", "[gateway]\nslow = 1s\n", "" },   /* nobody asked */
		{ "", "[gateway]\nproxy = a\n", "[gateway] proxy" },
		{ "[gateway]\nproxy = a\nproxy = b\n", "[gateway]\nproxy = b\nproxy = a\n", "[gateway] proxy" },
		{ "[topic x]\nclass = kept\n", "[topic x]\nclass = raw\n", "[topic] class" },
		{ "", "[topic y]\nclass = raw\n", "[topic] class" },
		{ "[mail]\nfrom = a\n", "[gateway]\nport = 1\n", "[gateway] port, [mail] from" },
	};
	char which[100];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(config_freep) struct config *before = parsed(cases[i].before),
						      *after = parsed(cases[i].after);

		config_get(before, "gateway", NULL, "port");
		config_each_value(before, "gateway", NULL, "proxy", ignore, NULL);
		config_get(before, "mail", NULL, "from");
		config_get(before, "topic", "x", "class");
		assert_int_equal(config_differs(before, after, which, sizeof(which)), *cases[i].which != 0);
		assert_string_equal(which, cases[i].which);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_given_falls_back),
		cmocka_unit_test(values_comments_and_names_are_read),
		cmocka_unit_test(an_unknown_key_is_told_with_its_place_and_its_neighbour),
		cmocka_unit_test(an_unknown_section_is_told_with_its_neighbour),
		cmocka_unit_test(a_section_that_takes_no_name_is_given_none),
		cmocka_unit_test(a_section_that_takes_a_name_is_given_one),
		cmocka_unit_test(a_line_that_says_nothing_is_refused),
		cmocka_unit_test(a_key_that_contradicts_itself_is_refused),
		cmocka_unit_test(a_key_may_repeat_itself),
		cmocka_unit_test(the_first_wrong_line_is_the_one_told),
		cmocka_unit_test(all_that_is_wrong_is_told_in_the_order_of_the_lines),
		cmocka_unit_test(faults_are_told_in_the_order_of_files_and_then_what_is_in_none),
		cmocka_unit_test(a_folder_of_drop_ins_that_cannot_be_read_is_a_fault_like_others),
		cmocka_unit_test(a_wrong_heading_is_told_once_and_not_for_what_stands_below_it),
		cmocka_unit_test(what_is_given_wrongly_is_not_missing_as_well),
		cmocka_unit_test(nothing_is_cut_silently),
		cmocka_unit_test(the_longest_names_are_kept_whole),
		cmocka_unit_test(what_just_fits_is_taken_and_a_letter_more_is_not),
		cmocka_unit_test(however_many_values_there_are_all_are_kept),
		cmocka_unit_test(a_refusal_names_the_place_of_the_value_or_of_the_key_alone),
		cmocka_unit_test(what_helps_against_a_file_that_cannot_be_read_is_told),
		cmocka_unit_test(a_file_that_is_too_large_or_no_text_is_refused),
		cmocka_unit_test(a_file_in_the_place_of_the_folder_of_drop_ins_is_told),
		cmocka_unit_test(bytes_that_are_no_text_are_refused),
		cmocka_unit_test(sections_of_others_are_not_judged_where_the_table_says_so),
		cmocka_unit_test(repeated_keys_keep_every_value_in_order),
		cmocka_unit_test(an_empty_value_empties_a_repeated_key),
		cmocka_unit_test(blanks_around_a_name_are_no_part_of_it),
		cmocka_unit_test(named_sections_come_once_each_in_order),
		cmocka_unit_test(numbers_are_whole_and_within_bounds),
		cmocka_unit_test(spans_need_a_unit),
		cmocka_unit_test(drop_ins_win_in_order_of_name),
		cmocka_unit_test(a_wrong_drop_in_is_told_by_its_own_name),
		cmocka_unit_test(a_missing_file_is_told_by_name),
		cmocka_unit_test(what_is_dumped_reads_back_the_same),
		cmocka_unit_test(only_what_was_asked_for_differs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
