/*
 * model_line.c: which line of a model may be mailed
 *
 * Promises:  pure; a line that passes holds no link, no markup, no amount and no number that was not there before: a model cannot
 *            promise a price, a discount or a date, whatever it read in an item's title.
 * Read next: model.h
 */
#include "bus/base/text.h"
#include "services/kit/model.h"
#include <unicode/uchar.h>
#include <unicode/ucurr.h>
#include <unicode/utf8.h>

enum { WORD_ROOM = 400, CODE_LETTERS = 3 };

#define EVER_MIN (-1e15) /* of dates, in ICU's milliseconds: a currency of any time */
#define EVER_MAX 1e15

static UChar32 next(const char *text, int *at)
{
	UChar32 c;

	U8_NEXT(text, *at, -1, c);
	return c;
}

static bool has_char(const char *text, UChar32 wanted)
{
	for (int at = 0; text[at];)
		if (next(text, &at) == wanted)
			return true;
	return false;
}

/* Joiners belong to words in Hindi and Persian and to emoji; every other invisible mark changes what a line seems to say. */
static bool is_hidden(UChar32 c)
{
	switch (u_charType(c)) {
	case U_FORMAT_CHAR:
		return c != 0x200c && c != 0x200d;
	case U_CONTROL_CHAR:
	case U_LINE_SEPARATOR:
	case U_PARAGRAPH_SEPARATOR:
	case U_PRIVATE_USE_CHAR:
	case U_SURROGATE:
	case U_UNASSIGNED:
		return true;
	default:
		return false;
	}
}

static bool is_number(UChar32 c)
{
	int type = u_charType(c);

	return type == U_DECIMAL_DIGIT_NUMBER || type == U_LETTER_NUMBER || type == U_OTHER_NUMBER;
}

/* The next number as ASCII digits ("#" for what has no digit value); false: there is none. */
static bool next_number(const char *text, int *at, char ret[WORD_ROOM])
{
	int len = 0;

	while (text[*at]) {
		int before = *at;
		UChar32 c = next(text, at);

		if (is_number(c) && len < WORD_ROOM - 1) {
			int value = u_charDigitValue(c);
			ret[len++] = value >= 0 ? (char)('0' + value) : '#';
		} else if (len) {
			*at = before;
			break;
		}
	}
	ret[len] = '\0';
	return len > 0;
}

static bool has_number(const char *text, const char *wanted)
{
	char number[WORD_ROOM];

	for (int at = 0; next_number(text, &at, number);)
		if (strcmp(number, wanted) == 0)
			return true;
	return false;
}

static bool invents_number(const char *line, const char *own, const char *data)
{
	char number[WORD_ROOM];

	for (int at = 0; next_number(line, &at, number);)
		if (strchr(number, '#') || (!has_number(own, number) && !has_number(data, number)))
			return true;
	return false;
}

/* The next word between blanks; false: there is none. */
static bool next_word(const char **text, char ret[WORD_ROOM])
{
	size_t len;

	*text += strspn(*text, " \t");
	len = strcspn(*text, " \t");
	text_copy_bytes(ret, WORD_ROOM, BYTES(*text, len));
	*text += len;
	return len > 0;
}

static bool is_letter_or_digit(char c)
{
	return u_isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* "shop.example", "https:", "a@b", "www." */
static bool is_address(const char *word)
{
	if (strstr(word, "://") || strchr(word, '@') || text_starts(word, "www."))
		return true;
	for (const char *dot = word + 1; *word && (dot = strchr(dot, '.')); dot++)
		if (is_letter_or_digit(dot[-1]) && is_letter_or_digit(dot[1]))
			return true;
	return false;
}

static bool invents_address(const char *line, const char *own)
{
	char word[WORD_ROOM];

	while (next_word(&line, word))
		if (is_address(word) && !strstr(own, word))
			return true;
	return false;
}

static bool is_currency_code(const char *at, char ret[CODE_LETTERS + 1])
{
	UErrorCode error = U_ZERO_ERROR;
	UChar code[CODE_LETTERS + 1] = { 0 };

	for (int i = 0; i < CODE_LETTERS; i++) {
		if (at[i] < 'A' || at[i] > 'Z')
			return false;
		ret[i] = at[i];
		code[i] = (UChar)at[i];
	}
	ret[CODE_LETTERS] = '\0';
	return !is_letter_or_digit(at[CODE_LETTERS]) && ucurr_isAvailable(code, EVER_MIN, EVER_MAX, &error) &&
		U_SUCCESS(error);
}

static bool invents_currency(const char *line, const char *own, const char *data)
{
	char code[CODE_LETTERS + 1];

	for (int at = 0; line[at];) {
		bool begins = at == 0 || !is_letter_or_digit(line[at - 1]);

		if (begins && is_currency_code(line + at, code) && !strstr(own, code) && !strstr(data, code))
			return true;
		UChar32 c = next(line, &at);
		if (u_charType(c) == U_CURRENCY_SYMBOL && !has_char(own, c) && !has_char(data, c))
			return true;
	}
	return false;
}

static const char *character_fault(const char *line, const char *own)
{
	int count = 0;

	for (int at = 0; line[at]; count++) {
		UChar32 c = next(line, &at);

		if (c < 0 || is_hidden(c))
			return "a character that does not show";
		if (c < 0x80 && strchr("<>{}[]`*_#|\\~^=%", (int)c) && !has_char(own, c))
			return "markup, or a sign that was not there before";
	}
	if (count == 0)
		return "nothing in it";
	return count > MODEL_LINE_MAX ? "more than 160 characters" : NULL;
}

const char *model_line_fault(const char *line, const char *own, const char *data)
{
	const char *fault = character_fault(line, own);

	if (fault)
		return fault;
	if (invents_address(line, own))
		return "an address that was not there before";
	if (invents_number(line, own, data))
		return "a number that was not there before";
	return invents_currency(line, own, data) ? "a currency that was not there before" : NULL;
}
