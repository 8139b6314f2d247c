/*
 * money_words.c: finds words for money and discounts in a text that is no rules
 *
 * Promises:  a word that it finds is one of the rules in the text's language (words/en.txt: the currencies and
 *            "!discount"), or the name or sign of a currency in any language.
 * Read next: words.c
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "services/kit/rules/text.h"
#include <string.h>

struct scanned {
	struct buffer buffer;
	const struct token *tokens;
	int count;
};

static void scanned_clear(struct scanned *scanned)
{
	buffer_free(&scanned->buffer);
}

/* A "#" begins no comment here, and control characters separate words. */
static bool scan_any(const char *text, struct scanned *ret)
{
	_cleanup_(buffer_free) struct buffer copy = { 0 };
	struct rules_error error;

	buffer_add_text(&copy, text);
	for (size_t i = 0; i < copy.len; i++)
		if (copy.data[i] == '#' || (copy.data[i] < ' ' && copy.data[i] != '\n'))
			copy.data[i] = ' ';
	if (rules_tokens(buffer_text(&copy), &ret->buffer, &error) < 0)
		return false;
	ret->tokens = (const struct token *)(const void *)ret->buffer.data;
	ret->count = (int)(ret->buffer.len / sizeof(struct token)) - 1; /* without the end */
	return true;
}

/* How many tokens the word for money that begins at `at` has; 0: none begins there. `language` may be NULL. */
static int money_words_at(const struct language *language, const struct scanned *text, int at)
{
	int used = 0;
	const struct phrase *phrase =
		language ? language_find(language, text->tokens + at, text->count - at, 0, &used) : NULL;

	for (int i = 0; phrase && i < CONCEPTS_MAX && phrase->concepts[i]; i++)
		if (strcmp(phrase->concepts[i], "!discount") == 0 || strcmp(phrase->concepts[i], "currency") == 0)
			return used;
	return words_name_currency(text->tokens[at].word) ? 1 : 0;
}

static bool has_tokens(const struct scanned *text, const struct token *tokens, int count)
{
	for (int at = 0; at + count <= text->count; at++) {
		int same = 0;

		while (same < count && strcmp(text->tokens[at + same].word, tokens[same].word) == 0)
			same++;
		if (same == count)
			return true;
	}
	return false;
}

bool rules_text_adds_money(const char *text, const char *language, const char *known)
{
	_cleanup_(scanned_clear) struct scanned new = { 0 }, old = { 0 };
	const struct language *words = language_named(language);

	if (!scan_any(text, &new) || !scan_any(known, &old))
		return true;
	for (int at = 0; at < new.count; at++) {
		int used = money_words_at(words, &new, at);
		if (used && !has_tokens(&old, new.tokens + at, used))
			return true;
	}
	return false;
}
