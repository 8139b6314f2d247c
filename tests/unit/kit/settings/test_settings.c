/*
 * test_settings.c: over every key of cartbus.conf and shop.conf: what is right is taken, and wrong values of every kind are refused in the
 * words of the table, with file and line
 *
 * The processes, their --check, a reload, `config check` and doctor ask nobody else (tests/system/cases/test_wrong_values.py, tests/lint/settings).
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/settings/settings.h"
#include "services/kit/shop/shop.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <inttypes.h>

DEFINE_CLEANUP(struct config *, config_free)

static const char services[] =
	"broker gateway intake timer waiter sender unsub mailin exporter summarizer mirror monitor storefront console cartbus";

struct trying {
	const struct config_key *keys; /* of the file */
	int judged;
};

static bool has_word(const char *words, const char *word, size_t len)
{
	for (const char *at = words; (at = strstr(at, word)); at++)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/* ---- the table itself ---- */

static int look_at_row(const struct config_key *key, void *context)
{
	struct config_meaning meaning;
	char word[40];

	(void)context;
	assert_true(key->kind.form != CONFIG_FORM_NONE && key->help && *key->help);
	if (key->fallback && *key->fallback && !config_kind_read(&key->kind, key->fallback, &meaning))
		fail_msg("[%s] %s: its own fallback %s is wrong", key->section, key->key, key->fallback);
	for (const char *at = key->readers ? key->readers : ""; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		snprintf(word, sizeof(word), "%.*s", (int)len, at);
		if (strcmp(word, "every") != 0 && !has_word(services, word, len))
			fail_msg("[%s] %s: there is no service %s", key->section, key->key, word);
		at += len;
	}
	return 0;
}

static void every_row_is_whole_and_right_by_itself(void **state)
{
	(void)state;
	config_each_key(settings_keys, look_at_row, NULL);
	config_each_key(shop_keys, look_at_row, NULL);
}

static int look_at_readers(const struct config_key *key, void *context)
{
	(void)context;
	if (!key->readers)
		fail_msg("[%s] %s: the table does not say who reads it", key->section, key->key);
	return 0;
}

static void every_key_of_cartbus_conf_says_who_reads_it(void **state)
{
	(void)state;
	config_each_key(settings_keys, look_at_readers, NULL);
}

struct searching {
	const char *section, *key;
	bool found;
};

static int look_for(const struct config_key *key, void *context)
{
	struct searching *searching = context;

	searching->found |= strcmp(key->section, searching->section) == 0 && strcmp(key->key, searching->key) == 0;
	return 0;
}

static int look_at_needs(const struct config_key *key, void *context)
{
	const char *at = key->needs ? key->needs : "";

	while (*at) {
		at += strcspn(at, ":") + 1;
		for (at += strspn(at, " "); *at && *at != ';'; at += strspn(at, " ")) {
			struct searching searching = { .section = key->section };
			char needed[40];

			snprintf(needed, sizeof(needed), "%.*s", (int)strcspn(at, " ;"), at);
			searching.key = needed;
			config_each_key(context, look_for, &searching);
			if (!searching.found)
				fail_msg("[%s] %s needs %s, which is no key", key->section, key->key, needed);
			at += strlen(needed);
		}
		at += *at == ';';
	}
	return 0;
}

static void what_a_key_needs_are_keys(void **state)
{
	(void)state;
	config_each_key(settings_keys, look_at_needs, (void *)(uintptr_t)settings_keys);
	config_each_key(shop_keys, look_at_needs, (void *)(uintptr_t)shop_keys);
}

/* ---- wrong values ---- */

/* A section that is the key's alone: [user NAME] has names. */
static void write_file(const struct config_key *key, const char *value, struct buffer *ret)
{
	buffer_clear(ret);
	buffer_printf(ret, "# a comment\n[%s%s]\n%s = %s\n", key->section,
		strcmp(key->section, "user") == 0 ? " 0" : "", key->key, value);
}

static void refuse(struct trying *trying, const struct config_key *key, const char *value, const char *says)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config *config = NULL;
	struct config_error error = { "" };

	write_file(key, value, &text);
	if (config_parse(buffer_text(&text), "c.conf", trying->keys, &config, &error) != -EINVAL)
		fail_msg("[%s] %s took \"%.60s\"", key->section, key->key, value);
	if (strncmp(error.text, "c.conf:3: ", 10) != 0 || !strstr(error.text, says))
		fail_msg("[%s] %s = %.60s says %s and not %s", key->section, key->key, value, error.text, says);
	trying->judged++;
}

static void refuse_as_expected(struct trying *trying, const struct config_key *key, const char *value)
{
	char says[400], expected[240];

	config_kind_expected(&key->kind, expected, sizeof(expected));
	snprintf(says, sizeof(says), "%s: expected %s, found \"%.20s", key->key, expected, value);
	refuse(trying, key, value, says);
}

static void refuse_all(struct trying *trying, const struct config_key *key, const char *const *values)
{
	for (; *values; values++)
		refuse_as_expected(trying, key, *values);
}

/* More than any kind takes, less than a line may be. */
static void refuse_too_long(struct trying *trying, const struct config_key *key)
{
	char value[3801];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	refuse_as_expected(trying, key, value);
}

static void refuse_beyond_the_range(struct trying *trying, const struct config_key *key)
{
	char value[40];

	if (key->kind.least > 0) {
		snprintf(value, sizeof(value), "%" PRId64, key->kind.least - 1);
		refuse_as_expected(trying, key, value);
	}
	if (key->kind.most < INT64_MAX) {
		snprintf(value, sizeof(value), "%" PRId64, key->kind.most + 1);
		refuse_as_expected(trying, key, value);
	}
	snprintf(value, sizeof(value), "%" PRId64 ", %" PRId64, key->kind.least + 1, key->kind.least + 2);
	refuse_as_expected(trying, key, value);
}

static void refuse_of_form(struct trying *trying, const struct config_key *key)
{
	static const char *const numbers[] = { "abc", "-5", "1.5", "10 MiB", "5m", "0x10", "+1", "99999999999999999999",
		"many", NULL };
	static const char *const spans[] = { "5", "soon", "-1s", "5m", "1.5h", "1h30min", "999999999d", "s", "1s, 2s",
		NULL };
	static const char *const reals[] = { "fast", "inf", "nan", "-1", "1e3", "0x1", "1,5", "9999999", "1 2", NULL };
	static const char *const words[] = { "sendmail", "maybe", "-", "1", "yes no", "no, yes", NULL };
	static const char *const ips[] = { "300.1.1.1", "localhost", "127.0.0.1:80", "::g", "1.2.3", "127.0.0.1, ::1",
		NULL };
	static const char *const hosts[] = { "a b", "http://x", "300.1.1.1", "x:25", "-x", "a, b", NULL };
	static const char *const urls[] = { "ftp://x", "x", "http://", "http://x:99999", "http://a http://b", NULL };
	static const char *const files[] = { "../x", "/etc/passwd", "a/b", ".x", NULL };
	static const char *const judged[] = { "!", "!, !", NULL };

	switch (key->kind.form) {
	case CONFIG_FORM_COUNT:
	case CONFIG_FORM_PORT:
		refuse_all(trying, key, numbers);
		refuse_beyond_the_range(trying, key);
		break;
	case CONFIG_FORM_SPAN:
		refuse_all(trying, key, spans);
		break;
	case CONFIG_FORM_REAL:
		refuse_all(trying, key, reals);
		break;
	case CONFIG_FORM_YES:
	case CONFIG_FORM_WORD:
		refuse_all(trying, key, words);
		break;
	case CONFIG_FORM_IP:
		refuse_all(trying, key, ips);
		break;
	case CONFIG_FORM_HOST:
		refuse_all(trying, key, hosts);
		break;
	case CONFIG_FORM_URL:
		refuse_all(trying, key, urls);
		refuse(trying, key, "http://u:p@x", "expected a URL of");
		refuse(trying, key, "http://u@x", "without a name and a password before the host");
		break;
	case CONFIG_FORM_FILE:
		refuse_all(trying, key, files);
		break;
	case CONFIG_FORM_JUDGED:
		refuse_all(trying, key, judged);
		break;
	case CONFIG_FORM_TEXT:
	case CONFIG_FORM_PATH:
	case CONFIG_FORM_NONE:
		break;
	}
}

static void refuse_more_than_it_takes(struct trying *trying, const struct config_key *key)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config *config = NULL;
	struct config_error error = { "" };

	if (key->repeated || !key->fallback || !*key->fallback)
		return;
	buffer_printf(&text, "[%s%s]\n%s = %s\n%s = !\n", key->section, strcmp(key->section, "user") == 0 ? " 0" : "",
		key->key, key->fallback, key->key);
	assert_int_equal(config_parse(buffer_text(&text), "c.conf", trying->keys, &config, &error), -EINVAL);
	if (!strstr(error.text, "c.conf:3: ") || !strstr(error.text, "is given twice"))
		fail_msg("[%s] %s twice says %s", key->section, key->key, error.text);
}

static int refuse_wrong_values(const struct config_key *key, void *context)
{
	struct trying *trying = context;
	bool may_be_none = key->repeated || key->may_be_none || (!key->required && (!key->fallback || !*key->fallback));

	refuse(trying, key, "a\x01z", "a control character");
	refuse(trying, key, "a\x7fz", "a control character");
	refuse(trying, key, "a\xff", "not UTF-8");
	refuse_too_long(trying, key);
	refuse_of_form(trying, key);
	refuse_more_than_it_takes(trying, key);
	if (!may_be_none)
		refuse_as_expected(trying, key, "");
	return 0;
}

static void every_key_refuses_wrong_values_of_every_kind_in_the_words_of_the_table(void **state)
{
	struct trying of_cartbus = { .keys = settings_keys }, of_shop = { .keys = shop_keys };

	(void)state;
	config_each_key(settings_keys, refuse_wrong_values, &of_cartbus);
	config_each_key(shop_keys, refuse_wrong_values, &of_shop);
	assert_true(of_cartbus.judged > 600 && of_shop.judged > 250);
}

/* What others need does not stop a process, and what it needs itself is refused as by everybody. */
static int start_with_it(const struct config_key *key, void *context)
{
	static const char *const names[] = { "gateway", "sender", "waiter", "monitor", "cartbus" };
	const struct folder *folder = context;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char value[3801], path[128];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	write_file(key, value, &text);
	FOLDER_PATH(path, (*folder), "cartbus.conf");
	assert_int_equal(file_write_durably(path, buffer_bytes(&text), 0640), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		_cleanup_(config_freep) struct config *config = NULL;
		struct config_error error = { "" };
		bool reads = strcmp(key->readers, "every") == 0 || has_word(key->readers, names[i], strlen(names[i]));

		assert_int_equal(config_load_for(path, settings_keys, names[i], &config, &error), reads ? -EINVAL : 0);
		assert_non_null(strstr(error.text, key->key));
	}
	return 0;
}

static void a_wrong_value_stops_the_readers_of_its_key_alone(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();

	(void)state;
	config_each_key(settings_keys, start_with_it, &folder);
}

/* ---- what was seen to be called right ---- */

static void what_no_process_would_take_is_not_called_right(void **state)
{
	static const struct {
		const char *text, *says;
	} seen[] = {
		{ "[mail]\ntransport = sendmail\n",
			"c.conf:2: [mail] transport: expected maildir, smtp, ses or null, found \"sendmail\"" },
		{ "[mail]\ntransport = ses\n",
			"c.conf:2: [mail] transport = ses needs ses-region, which is not given" },
		{ "[mail]\nsmtp-port = abc\n",
			"c.conf:2: [mail] smtp-port: expected a port from 1 to 65535, found \"abc\"" },
		{ "[mail]\nsmtp-tls = maybe\n",
			"c.conf:2: [mail] smtp-tls: expected starttls or none, found \"maybe\"" },
		{ "[mail]\nper-minute = -5\n",
			"c.conf:2: [mail] per-minute: expected a whole number from 0 to 4294967295, found \"-5\"" },
		{ "[monitor]\nadmin = me\n",
			"c.conf:2: [monitor] admin: expected a mail address, as admin@example.com, found \"me\"" },
		{ "[monitor]\nwebhook = ftp://x\n", "c.conf:2: [monitor] webhook: expected a URL of http or https" },
		{ "[log]\nlevel = loud\n",
			"c.conf:2: [log] level: expected critical, error, warning, notice, info or debug" },
		{ "[clock]\nrate = fast\n", "c.conf:2: [clock] rate: expected a number from 0.001 to 1000000" },
		{ "[clock]\nrate = inf\n", "c.conf:2: [clock] rate: expected a number from 0.001 to 1000000" },
		{ "[clock]\nrate = 60\n", "c.conf:2: [clock] rate = 60 needs origin-real-us, which is not given" },
		{ "[backup]\nkeep = many\n", "c.conf:2: [backup] keep: expected a whole number from 0 to 1000" },
		{ "[model]\nprovider = gpt\n",
			"c.conf:2: [model] provider: expected none, bedrock, anthropic or openai" },
		{ "[model]\nprovider = openai\n", "c.conf:2: [model] provider = openai needs url, which is not given" },
		{ "[model]\nprovider = bedrock\n",
			"c.conf:2: [model] provider = bedrock needs secret, which is not given" },
		{ "[gateway]\nport = 99999\n",
			"c.conf:2: [gateway] port: expected a port from 1 to 65535, found \"99999\"" },
		{ "[gateway]\nlisten = 300.1.1.1\n",
			"c.conf:2: [gateway] listen: expected an IP address, as 127.0.0.1" },
		{ "[paths]\nrun = "
		  "/run/01234567890123456789012345678901234567890123456789012345678901234567890123456789012345\n",
			"c.conf:2: [paths] run: expected a path that begins with /, of at most 85 bytes" },
		{ "[storefront]\nprivate = perhaps\n",
			"c.conf:2: [storefront] private: expected yes or no, found \"perhaps\"" },
		{ "[gatway]\nport = 1\n", "c.conf:1: unknown section [gatway]; did you mean [gateway]?" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		struct config *config = NULL;
		struct config_error error = { "" };

		if (config_parse(seen[i].text, "c.conf", settings_keys, &config, &error) != -EINVAL)
			fail_msg("taken: %s", seen[i].text);
		if (!strstr(error.text, seen[i].says) && !strstr(error.text, "unknown section [gatway]"))
			fail_msg("%ssays %s\nnot  %s", seen[i].text, error.text, seen[i].says);
	}
}

static void a_folder_of_exports_may_be_made_at_the_root(void **state)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct config_error error = { "" };
	char why[512];

	(void)state;
	assert_int_equal(config_parse("[export]\nfolder = /cartbus-test-of-no-folder\n", "c.conf", settings_keys,
				 &config, &error),
		0);
	assert_int_equal(settings_export_try(config, why), access("/", W_OK | X_OK) == 0 ? 0 : -errno);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_whole_and_right_by_itself),
		cmocka_unit_test(every_key_of_cartbus_conf_says_who_reads_it),
		cmocka_unit_test(what_a_key_needs_are_keys),
		cmocka_unit_test(every_key_refuses_wrong_values_of_every_kind_in_the_words_of_the_table),
		cmocka_unit_test(a_wrong_value_stops_the_readers_of_its_key_alone),
		cmocka_unit_test(what_no_process_would_take_is_not_called_right),
		cmocka_unit_test(a_folder_of_exports_may_be_made_at_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
