/* test_config_kind.c: what the value of a key may be: each kind takes what is one, and nothing that only looks like it */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>

DEFINE_CLEANUP(struct config *, config_free)

struct tried {
	struct config_kind kind;
	const char *right[10], *wrong[30];
	const char *expected;
};

static bool is_even(const char *value)
{
	return strlen(value) % 2 == 0;
}

static const struct tried kinds[] = {
	{ CONFIG_TEXT(5), { "a", "12345", "a b c", "\xc3\xa4" }, { "", "123456", "a\x01", "\xff", "a\nb", "\x7f" },
		"a text of at most 5 bytes" },
	{ CONFIG_PATH(10), { "/a/b", "/", "/012345678" }, { "/0123456789", "relative", "./a", "~/a" },
		"a path that begins with /, of at most 10 bytes" },
	{ CONFIG_FILE, { "google.json", "key-2", "0123456789012345678901234567890123456789012345678901234567890123" },
		{ "01234567890123456789012345678901234567890123456789012345678901234", "../key", "/etc/key", "a/b",
			".hidden", "." },
		"the name of a file, without a folder, of at most 64 bytes" },
	{ CONFIG_IP, { "127.0.0.1", "::1", "0.0.0.0", "fe80::1" },
		{ "300.1.1.1", "localhost", "1.2.3", "127.0.0.1:80", "[::1]", "127.1", " 127.0.0.1", "2130706433" },
		"an IP address, as 127.0.0.1" },
	{ CONFIG_HOST, { "mail.example", "localhost", "10.0.0.7", "::1", "a_b.example." },
		{ "300.1.1.1", "a b", "mail..example", "-a", "a-", ".a", "", "a/b", "http://a", "a:25", "12.5",
			"caf\xc3\xa9" },
		"the name of a host, or an IP address" },
	{ CONFIG_URL("http https", 60),
		{ "http://a", "https://shop.example/x?y#z", "http://127.0.0.1:8080", "http://[::1]:80/",
			"https://a.b./", "http://a:1", "http://a:65535/", "http://a/~!",
			"https://a/01234567890123456789012345678901234567890123456789" },
		{ "ftp://x", "https:/x", "https://", "https:///x", "http://a b", "http://u@x", "http://u:p@x/", "//x",
			"javascript:alert(1)", "http://x:0", "http://x:65536", "http://x:000080", "http:x",
			"http://[::1]80", "http://x:abc", "http://x:", "http://[::1", "http://[1.2.3.4]",
			"http://300.1.1.1", "HTTP://x", "http://x\"y", "http://x/\xc3\xa9",
			"https://a/012345678901234567890123456789012345678901234567890" },
		"a URL of http or https, of at most 60 bytes" },
	{ CONFIG_COUNT(0, 50), { "0", "50", "007" },
		{ "-5", "51", "many", "5x", "5 ", " 5", "5.0", "+5", "0x5", "1e1", "99999999999999999999", "-",
			"\xd9\xa3" },
		"a whole number from 0 to 50" },
	{ CONFIG_COUNT(-5, 5), { "-5", "-0", "5" }, { "-6", "6", "--5", "" }, "a whole number from -5 to 5" },
	{ CONFIG_COUNT_OF("MiB", 1, INT64_MAX), { "1", "9223372036854775807" }, { "0", "9223372036854775808", "1GiB" },
		"a whole number of MiB, 1 or more" },
	{ CONFIG_PORT, { "1", "65535" }, { "0", "99999", "65536", "abc", "-1", "http", "80/tcp" },
		"a port from 1 to 65535" },
	{ CONFIG_PORT_OR_NONE, { "0", "1" }, { "65536", "no" }, "a port from 0 to 65535" },
	{ CONFIG_SPAN(US_PER_S, US_PER_MINUTE), { "1s", "1000ms", "1min", "30 s" },
		{ "999ms", "61s", "2min", "30", "s", "-1s", "1m", "1S", "1.5s", "1h30min", "soon",
			"9999999999999999999s" },
		"a time like 250ms, 30s, 5min, 4h or 2d, from 1s to 1min" },
	{ CONFIG_SPAN(0, 2 * US_PER_DAY), { "0ms", "2d", "48h", "2880min", "172800s" },
		{ "3d", "49h", "172800001ms", "" }, "a time like 250ms, 30s, 5min, 4h or 2d, from 0ms to 2d" },
	{ CONFIG_SPAN(US_PER_HOUR + US_PER_MINUTE, INT64_MAX / US_PER_DAY * US_PER_DAY), { "61min", "106751991d" },
		{ "60min", "106751992d", "2562047789h" },
		"a time like 250ms, 30s, 5min, 4h or 2d, from 61min to 106751991d" },
	{ CONFIG_REAL(0.5, 1000000), { "0.5", "1", "1000000", "1.0", "1000000.0" },
		{ "0.4", "1000001", "inf", "nan", "INF", "infinity", "1e3", "0x1p3", "fast", ".7", "7.", "-1", "+1",
			"1,5", "1.5.5", " 1" },
		"a number from 0.5 to 1000000, as 0.25" },
	{ CONFIG_YES, { "yes", "no" }, { "maybe", "Yes", "true", "1", "on", "yesno", "yes no" }, "yes or no" },
	{ CONFIG_WORD("maildir smtp ses|post"), { "maildir", "smtp", "ses", "post" },
		{ "sendmail", "SMTP", "smt", "smtpx", "maildir smtp", "|" }, "maildir, smtp or ses" },
	{ CONFIG_JUDGED("something even", 6, is_even), { "ab" }, { "abc", "abcdefgh", "\x01\x02" }, "something even" },
};

static void a_url_with_a_login_is_refused_for_that_and_the_login_is_not_shown(void **state)
{
	static const struct config_key table[] = {
		{ "monitor", "webhook", NULL, "", .kind = CONFIG_URL("http https", 60) }, CONFIG_END
	};
	static const char *const urls[] = { "https://me:s3cret@x.example/y", "http://s3cret@x", "ftp://me:s3cret@x",
		"https://me:s3/cret@x.example", "https://me:s3#cret@x", "https:/me:s3cret@x", "me:s3cret@x" };
	char text[100];

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		struct config_error error = { "" };
		struct config *config = NULL;

		snprintf(text, sizeof(text), "[monitor]\nwebhook = %s\n", urls[i]);
		assert_int_equal(config_parse(text, "c", table, &config, &error), -EINVAL);
		assert_string_equal(error.text,
			"c:2: [monitor] webhook: expected a URL of http or https, of at most 60 bytes, without a name "
			"and a password before the host");
	}
}

static void each_kind_takes_what_is_one_and_nothing_else(void **state)
{
	struct config_meaning meaning;
	char expected[240];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct tried *kind = &kinds[i];

		config_kind_expected(&kind->kind, expected, sizeof(expected));
		assert_string_equal(expected, kind->expected);
		for (int nth = 0; nth < 10 && kind->right[nth]; nth++)
			if (!config_kind_read(&kind->kind, kind->right[nth], &meaning))
				fail_msg("%s: \"%s\" was refused", expected, kind->right[nth]);
		for (int nth = 0; nth < 30 && kind->wrong[nth]; nth++)
			if (config_kind_read(&kind->kind, kind->wrong[nth], &meaning))
				fail_msg("%s: \"%s\" was taken", expected, kind->wrong[nth]);
	}
}

static const struct config_key inner[] = {
	{ "mail", "transport", "maildir", "", .kind = CONFIG_WORD("maildir ses post"),
		.needs = "ses: region; post: host port" },
	{ "mail", "region", NULL, "", .kind = CONFIG_TEXT(20) },
	{ "mail", "host", NULL, "", .kind = CONFIG_HOST },
	{ "mail", "port", "25", "", .kind = CONFIG_PORT },
	CONFIG_END,
};

static const struct config_key outer[] = {
	CONFIG_TABLE(inner),
	{ "clock", "rate", "1", "", .kind = CONFIG_REAL(0.1, 10), .needs = "other: origin" },
	{ "clock", "origin", NULL, "", .kind = CONFIG_COUNT(0, 9) },
	{ "clock", "zone", NULL, "", .kind = CONFIG_TEXT(20), .needs = "given: origin" },
	{ "log", "private", "no", "", .kind = CONFIG_YES },
	{ "log", "to", NULL, "", .repeated = 2, .kind = CONFIG_HOST },
	CONFIG_END,
};

static struct config *parsed(const char *text)
{
	struct config *config = NULL;
	struct config_error error = { "" };

	if (config_parse(text, "cartbus.conf", outer, &config, &error))
		fail_msg("%s: %s", text, error.text);
	return config;
}

static void refused(const char *text, const char *why)
{
	struct config *config = NULL;
	struct config_error error = { "" };

	assert_int_equal(config_parse(text, "cartbus.conf", outer, &config, &error), -EINVAL);
	assert_string_equal(error.text, why);
}

static void a_value_means_what_its_kind_says(void **state)
{
	_cleanup_(config_freep) struct config *config =
		parsed("[mail]\ntransport = ses\nregion = x\nport = 26\n[clock]\nrate = 2.5\norigin = "
		       "3\n[log]\nprivate = yes\n");
	_cleanup_(config_freep) struct config *none = parsed("");

	(void)state;
	assert_int_equal(config_word(config, "mail", NULL, "transport"), 1);
	assert_int_equal(config_number(config, "mail", NULL, "port"), 26);
	assert_true(config_real(config, "clock", NULL, "rate") > 2.4);
	assert_true(config_yes(config, "log", NULL, "private"));
	assert_int_equal(config_word(none, "mail", NULL, "transport"), 0);
	assert_int_equal(config_number(none, "mail", NULL, "port"), 25);
	assert_false(config_yes(none, "log", NULL, "private"));
	assert_int_equal(config_number(none, "clock", NULL, "origin"), 0);
}

static void what_a_value_needs_has_to_be_given(void **state)
{
	(void)state;
	refused("[mail]\ntransport = ses\n", "cartbus.conf:2: [mail] transport = ses needs region, which is not given");
	refused("[mail]\ntransport = ses\nregion =\n",
		"cartbus.conf:2: [mail] transport = ses needs region, which is not given");
	refused("[mail]\ntransport = post\n", "cartbus.conf:2: [mail] transport = post needs host, which is not given");
	refused("[clock]\nrate = 2\n", "cartbus.conf:2: [clock] rate = 2 needs origin, which is not given");
	refused("[clock]\nzone = x\n", "cartbus.conf:2: [clock] zone = x needs origin, which is not given");
	config_free(parsed("[mail]\ntransport = post\nhost = x\n"));
	config_free(parsed("[clock]\nrate = 1.0\n"));
}

static void a_repeated_key_has_so_many_values_at_most(void **state)
{
	(void)state;
	refused("[log]\nto = a\nto = b\nto = c\n", "cartbus.conf:4: [log] to: expected at most 2 of them");
	refused("[log]\nto = a\nto = b c\n",
		"cartbus.conf:3: [log] to: expected the name of a host, or an IP address, found \"b c\"");
	config_free(parsed("[log]\nto = a\nto = b\nto =\nto = c\nto = d\n"));
}

static void a_long_value_is_cut_where_a_letter_begins(void **state)
{
	struct config *config = NULL;
	struct config_error error = { "" };
	char text[200] = "[mail]\nhost = x";

	(void)state;
	for (int i = 0; i < 60; i++)
		strcat(text, "\xc3\xa4");
	strcat(text, "\n");
	assert_int_equal(config_parse(text, "cartbus.conf", outer, &config, &error), -EINVAL);
	assert_true(strlen(error.text) < 170 && strstr(error.text, "\xc3\xa4\""));
}

static void what_others_need_does_not_stop_a_reader(void **state)
{
	static const struct config_key shared[] = {
		{ "mail", "port", "25", "", .kind = CONFIG_PORT, .readers = "sender monitor" },
		{ "model", "provider", "none", "", .kind = CONFIG_WORD("none openai"), .readers = "sender",
			.needs = "openai: url" },
		{ "model", "url", NULL, "", .kind = CONFIG_URL("https", 50), .readers = "sender" },
		{ "log", "level", "info", "", .kind = CONFIG_WORD("info debug"), .readers = "every" },
		CONFIG_END,
	};
	static const struct {
		const char *text, *reader;
		int error;
		const char *says; /* of 0: what was passed over */
	} cases[] = {
		{ "[mail]\nport = x\n", "sender", -EINVAL,
			":2: [mail] port: expected a port from 1 to 65535, found \"x\"" },
		{ "[mail]\nport = x\n", "monitor", -EINVAL,
			":2: [mail] port: expected a port from 1 to 65535, found \"x\"" },
		{ "[mail]\nport = x\n", "gateway", 0, ":2: [mail] port: expected a port from 1 to 65535, found \"x\"" },
		{ "[mail]\nport = x\n", NULL, -EINVAL,
			":2: [mail] port: expected a port from 1 to 65535, found \"x\"" },
		{ "[model]\nprovider = openai\n", "sender", -EINVAL,
			":2: [model] provider = openai needs url, which is not given" },
		{ "[model]\nprovider = openai\n", "gateway", 0,
			":2: [model] provider = openai needs url, which is not given" },
		{ "[log]\nlevel = loud\n", "gateway", -EINVAL,
			":2: [log] level: expected info or debug, found \"loud\"" },
		{ "[log]\nlevle = info\n", "gateway", -EINVAL,
			":2: unknown key \"levle\" in [log]; did you mean \"level\"?" },
		{ "[mail]\nport = 26\n", "gateway", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(config_freep) struct config *config = NULL;
		struct config_error error = { "" };
		char path[128];

		FOLDER_PATH(path, folder, "cartbus.conf");
		assert_int_equal(file_write_durably(path, bytes_of(cases[i].text), 0640), 0);
		assert_int_equal(config_load_for(path, shared, cases[i].reader, &config, &error), cases[i].error);
		assert_string_equal(*error.text ? error.text + strlen(path) : "", cases[i].says);
		if (config && cases[i].says[0])
			assert_int_equal(config_number(config, "mail", NULL, "port"), 25);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_url_with_a_login_is_refused_for_that_and_the_login_is_not_shown),
		cmocka_unit_test(each_kind_takes_what_is_one_and_nothing_else),
		cmocka_unit_test(a_value_means_what_its_kind_says),
		cmocka_unit_test(what_a_value_needs_has_to_be_given),
		cmocka_unit_test(a_repeated_key_has_so_many_values_at_most),
		cmocka_unit_test(what_others_need_does_not_stop_a_reader),
		cmocka_unit_test(a_long_value_is_cut_where_a_letter_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
