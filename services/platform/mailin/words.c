/*
 * words.c: tidies the words of mail servers, and finds phrases in them
 *
 * Promises:  time is bounded by WORDS_MOST and the number of phrases, for any text.
 * Read next: phrases.txt (the phrases), reason.c (what they mean beside the codes)
 */
#include "services/platform/mailin/words.h"
#include <ctype.h>
#include <glib.h>
#include <stdlib.h>

enum { GAP_MOST = 60 };

/* ---- tidying ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c);
}

/* The length of "550-" or "550-5.1.1 ", which begins each further line of an answer; 0: none here. */
static size_t continuation_len(const char *at)
{
	size_t len = 4;

	if ((at[0] != '4' && at[0] != '5') || !is_digit(at[1]) || !is_digit(at[2]) || at[3] != '-')
		return 0;
	if ((at[4] == '4' || at[4] == '5') && at[5] == '.') {
		len += strspn(at + 4, "0123456789.");
		return is_word(at[len]) ? 0 : len;
	}
	return is_digit(at[4]) ? 0 : len;
}

/* The length of the word that an address is in, angle brackets included; 0: there is no address here. */
static size_t address_len(const char *at)
{
	size_t len = strcspn(at, " \t\r\n,;()[]"), sign = strcspn(at, "@"), bracket = 1 + strcspn(at + 1, "<");

	if (sign == 0 || sign >= len || bracket <= sign || !is_word(at[sign + 1]))
		return 0;
	for (size_t i = sign; i + 1 < len; i++)
		if (at[i] == ':' && isalpha((unsigned char)at[i + 1])) /* "(ada@mail.example:unknown user)" */
			return i;
	return len;
}

/* The length of a mark that servers write in different ways and no phrase needs; 0: none here. */
static size_t mark_len(const char *at)
{
	static const char *const marks[] = { "\"", "`", "\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x9e", "\xe2\x80\xb9",
		"\xe2\x80\xba", "\xc2\xab", "\xc2\xbb", "\xe2\x80\x8b", "\xef\xbb\xbf" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strncmp(at, marks[i], strlen(marks[i])) == 0)
			return strlen(marks[i]);
	return 0;
}

static size_t space_len(const char *at)
{
	if (*at && (unsigned char)*at <= ' ')
		return 1;
	if (strncmp(at, "\xc2\xa0", 2) == 0)
		return 2;
	return strncmp(at, "\xe3\x80\x80", 3) == 0 ? 3 : 0;
}

static void add_space(struct buffer *ret)
{
	if (ret->len > 0 && ret->data[ret->len - 1] != ' ')
		buffer_add(ret, " ", 1);
}

/* Adds the next piece, tidied. Returns the text after it. */
static const char *add_next(const char *at, bool starts_word, struct buffer *ret)
{
	size_t len;

	if ((len = space_len(at)) > 0) {
		add_space(ret);
	} else if (starts_word && (len = continuation_len(at)) > 0) {
		add_space(ret);
	} else if (starts_word && (len = address_len(at)) > 0) {
		buffer_add(ret, "@", 1);
		len -= strchr(".:", at[len - 1]) != NULL;
	} else if (strncmp(at, "\xe2\x80\x99", 3) == 0) {
		buffer_add(ret, "'", 1);
		len = 3;
	} else if ((len = mark_len(at)) == 0) {
		len = (size_t)(g_utf8_next_char(at) - at);
		buffer_add(ret, at, len);
	}
	return at + len;
}

/* A server that writes neither a charset nor UTF-8 means Latin-1, byte for byte. */
static char *text_of_bytes(const char *text, size_t len)
{
	GString *valid = g_string_sized_new(len);
	const char *end = text + len, *bad;

	for (; !g_utf8_validate(text, end - text, &bad); text = bad + 1) {
		g_string_append_len(valid, text, bad - text);
		g_string_append_unichar(valid, *bad ? (unsigned char)*bad : ' ');
	}
	g_string_append_len(valid, text, end - text);
	return g_string_free(valid, FALSE);
}

/* A server that writes Japanese in seven bits does not always name the charset. */
static char *valid_text(const char *text, size_t len)
{
	char *japanese = NULL;

	if (memmem(text, len, "\033$", 2))
		japanese = g_convert_with_fallback(text, (gssize)len, "UTF-8", "ISO-2022-JP", "?", NULL, NULL, NULL);
	return japanese ? japanese : text_of_bytes(text, len);
}

void words_tidy(struct bytes text, struct buffer *ret)
{
	size_t len = text.len < WORDS_MOST ? text.len : WORDS_MOST;
	char *valid = valid_text(text.len ? text.data : "", len), *lower = g_utf8_strdown(valid, -1);

	buffer_clear(ret);
	for (const char *at = lower; *at && ret->len < WORDS_MOST;)
		at = add_next(at, ret->len == 0 || !is_word((char)ret->data[ret->len - 1]), ret);
	g_free(valid);
	g_free(lower);
}

/* ---- comparing ---- */

/* Finds these letters at the beginning of a word; NULL: they are not there. */
static const char *find_word(const char *from, const char *end, const char *begin, const char *phrase, size_t len)
{
	for (const char *at = from; (at = memmem(at, (size_t)(end - at), phrase, len)); at++)
		if (at == begin || !is_word(at[-1]) || !is_word(*phrase))
			return at;
	return NULL;
}

/* Does the rest of a phrase follow? `words` begins after the found part before the gap. */
static bool rest_holds(const char *words, const char *phrase)
{
	while (*phrase) {
		size_t len = strcspn(++phrase, "*");
		const char *found = find_word(words, words + strnlen(words, GAP_MOST + len), NULL, phrase, len);

		if (!found)
			return false;
		words = found + len;
		phrase += len;
	}
	return true;
}

const char *words_find(const char *words, const char *phrase)
{
	size_t len = strcspn(phrase, "*");
	const char *end = words + strlen(words);

	for (const char *at = words; (at = find_word(at, end, words, phrase, len)); at++)
		if (rest_holds(at + len, phrase + len))
			return at;
	return NULL;
}
