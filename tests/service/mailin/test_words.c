/* test_words.c: what mail servers say, made comparable, and where it holds a phrase */
#include "services/platform/mailin/words.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>
#include <string.h>

static const char *tidied(const char *text, size_t len)
{
	static struct buffer words;

	words_tidy(BYTES(text, len), &words);
	return buffer_text(&words);
}

static void each_server_writes_the_same_in_its_own_way(void **state)
{
	static const struct {
		const char *said, *words;
	} cases[] = {
		{ "", "" },
		{ "User Unknown", "user unknown" },
		{ "  user \t\r\n\v unknown  ", "user unknown " },
		{ "user\xc2\xa0\xe3\x80\x80unknown", "user unknown" },
		/* addresses, with what stands around them */
		{ "<Ada@mail.example>: gone", "@: gone" },
		{ "to ada@mail.example.", "to @." },
		{ "(ada@mail.example)", "(@)" },
		{ "(ada@mail.example:unknown user)", "(@:unknown user)" },
		{ "rcpt to:<ada@mail.example> gone", "rcpt to:@ gone" },
		{ "mailbox @ home", "mailbox @ home" },
		{ "@home", "@home" },
		{ "ada@", "ada@" },
		{ "user=ada@mail.example,gone", "@,gone" },
		/* quotation marks */
		{ "\"no `such\xe2\x80\x9d \xe2\x80\x9cuser\xc2\xbb\xef\xbb\xbf", "no such user" },
		{ "doesn\xe2\x80\x99t exist", "doesn't exist" },
		{ "doesn't exist", "doesn't exist" },
		/* the codes that begin the further lines of an answer */
		{ "550-5.1.1 The account\n550-5.1.1 that you\n550 5.1.1 tried",
			"the account that you 550 5.1.1 tried" },
		{ "450-4.2.2 full", "full" },
		{ "550-The account", "the account" },
		{ "550-1234 is a number", "550-1234 is a number" },
		{ "250-fine", "250-fine" },
		{ "x550-fine", "x550-fine" },
		{ "550-5.1.1x", "550-5.1.1x" },
		/* other letters */
		{ "BO\xc3\x8eTE PLEINE", "bo\xc3\xaete pleine" },
		{ "bo\xeete pleine", "bo\xc3\xaete pleine" }, /* Latin-1 */
		{ "\x1b$B4A;z\x1b(B full", "\xe6\xbc\xa2\xe5\xad\x97 full" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(tidied(cases[i].said, strlen(cases[i].said)), cases[i].words);
	assert_string_equal(tidied("a\0b", 3), "a b"); /* no end of it */
}

static void as_much_as_is_looked_at_is_tidied(void **state)
{
	char *text = malloc(2 * WORDS_MOST);

	(void)state;
	memset(text, 'a', 2 * WORDS_MOST);
	assert_int_equal(strlen(tidied(text, WORDS_MOST - 1)), WORDS_MOST - 1);
	assert_int_equal(strlen(tidied(text, WORDS_MOST)), WORDS_MOST);
	assert_int_equal(strlen(tidied(text, WORDS_MOST + 1)), WORDS_MOST);
	memset(text, 0xe9, 2 * WORDS_MOST); /* two bytes each, as UTF-8 */
	assert_in_range(strlen(tidied(text, 2 * WORDS_MOST)), WORDS_MOST - 1, WORDS_MOST + 1);
	free(text);
}

static void a_phrase_begins_where_a_word_does(void **state)
{
	static const struct {
		const char *words, *phrase;
		int at; /* -1: nowhere */
	} cases[] = { { "user unknown", "user unknown", 0 }, { "the user unknown here", "user unknown", 4 },
		{ "superuser unknown", "user unknown", -1 }, { "superuser unknown, user unknown", "user unknown", 19 },
		{ "user unknowns", "user unknown", 0 }, { "user", "user unknown", -1 }, { "", "user", -1 },
		{ "a(user)", "(user", 1 }, { "x user", " user", 1 }, { "5user", "user", -1 }, { "-user", "user", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *found = words_find(cases[i].words, cases[i].phrase);
		assert_int_equal(found ? found - cases[i].words : -1, cases[i].at);
	}
}

static void a_star_is_up_to_sixty_bytes(void **state)
{
	char words[200];

	(void)state;
	assert_non_null(words_find("mailbox is full", "mailbox*full"));
	assert_non_null(words_find("mailbox of @ is over its quota now", "mailbox*over*quota"));
	assert_null(words_find("mailbox of @ is over", "mailbox*over*quota"));
	assert_null(words_find("full mailbox", "mailbox*full"));
	assert_null(words_find("mailbox is unfull", "mailbox*full"));
	/* the first mailbox is too far from it, the second is not */
	memset(words, 'x', sizeof(words));
	memcpy(words, "mailbox ", 8);
	strcpy(words + 100, " mailbox full");
	assert_ptr_equal(words_find(words, "mailbox*full"), words + 101);
	for (size_t gap = 58; gap < 64; gap++) {
		memset(words, ' ', sizeof(words));
		memcpy(words, "mailbox", 7);
		strcpy(words + 7 + gap, "full");
		assert_int_equal(words_find(words, "mailbox*full") != NULL, gap <= 60);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_server_writes_the_same_in_its_own_way),
		cmocka_unit_test(as_much_as_is_looked_at_is_tidied),
		cmocka_unit_test(a_phrase_begins_where_a_word_does),
		cmocka_unit_test(a_star_is_up_to_sixty_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
