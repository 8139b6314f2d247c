/*
 * line.c: judges whether a line or a paragraph of a model may be mailed
 *
 * Promises:  pure. A line that passes has no link, no markup, no amount and no number in digits that the
 *            model was not given, so it cannot add a price, a discount or a date in digits, even if an item's
 *            title asks for it. Numbers of a paragraph are compared as a whole: "12,50" does not allow "50".
 * Read next: model.h
 */
#include "bus/base/text.h"
#include "services/kit/model/model.h"
#include <stdio.h>
#include <unicode/uchar.h>
#include <unicode/ucurr.h>
#include <unicode/unum.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

enum { WORD_ROOM = 400, CODE_LETTERS = 3, SOFT_HYPHEN = 0xad, SPELLED_MOST = 100 };

#define EVER_MIN (-1e15) /* dates in ICU's milliseconds; from it to EVER_MAX: a currency of any time */
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

/* Marks that ICU itself writes into amounts in Arabic and Hebrew. They hide nothing. */
static bool is_direction_mark(UChar32 c)
{
	return c == 0x200e || c == 0x200f || c == 0x061c;
}

/*
 * Is it invisible? Joiners are allowed, because words in Hindi and Persian and emoji need them. Any other
 * invisible character can change how a line is read.
 */
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

/* The next number as ASCII digits, with "#" for a character without a digit value; false: there is none. */
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Is it like "shop.example", "https:", "a@b", "www."? `amounts`: a point between digits is of a number. */
static bool is_address(const char *word, bool amounts)
{
	if (strstr(word, "://") || strchr(word, '@') || text_starts(word, "www."))
		return true;
	for (const char *dot = word + 1; *word && (dot = strchr(dot, '.')); dot++)
		if (is_letter_or_digit(dot[-1]) && is_letter_or_digit(dot[1]) &&
			!(amounts && is_digit(dot[-1]) && is_digit(dot[1])))
			return true;
	return false;
}

/* Cuts off the full stop, comma or mark that follows a word. */
static void trim_end(char *word)
{
	int32_t len = (int32_t)strlen(word);

	while (len > 0) {
		int32_t before = len;
		UChar32 c;

		U8_PREV(word, 0, before, c);
		if (u_isalnum(c))
			break;
		len = before;
	}
	word[len] = '\0';
}

static bool invents_address(const char *line, const char *own, bool amounts)
{
	char word[WORD_ROOM];

	while (next_word(&line, word)) {
		if (!is_address(word, amounts))
			continue;
		trim_end(word);
		if (!*word || !strstr(own, word))
			return true;
	}
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

static const char *character_fault(const char *line, const char *own, bool marks, int most)
{
	int count = 0;

	for (int at = 0; line[at]; count++) {
		UChar32 c = next(line, &at);

		if (c < 0 || (is_hidden(c) && !(marks && is_direction_mark(c))))
			return "a character that does not show";
		if (c < 0x80 && strchr("<>{}[]`*_#|\\~^=%", (int)c) && !has_char(own, c))
			return "markup, or a sign that was not there before";
	}
	if (count == 0)
		return "nothing in it";
	return count > most ? "more characters than were asked for" : NULL;
}

static const char *words_fault(const char *line, const char *own, const char *data, bool amounts)
{
	if (invents_address(line, own, amounts))
		return "an address that was not there before";
	if (invents_number(line, own, data))
		return "a number that was not there before";
	return invents_currency(line, own, data) ? "a currency that was not there before" : NULL;
}

const char *model_line_fault(const char *line, const char *own, const char *data)
{
	const char *fault = character_fault(line, own, false, MODEL_LINE_MAX);

	return fault ? fault : words_fault(line, own, data, false);
}

/* ---- a paragraph of figures ---- */

/* May the character stand between the digits of one number, in any locale? */
static bool is_separator(UChar32 c)
{
	static const UChar32 separators[] = { '.', ',', '\'', 0xb7, 0x2019, 0x066b, 0x066c, 0xff0c, 0xff0e };

	for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++)
		if (separators[i] == c)
			return true;
	return u_charType(c) == U_SPACE_SEPARATOR && c != ' ';
}

static bool digit_follows(const char *text, int at)
{
	return text[at] && is_number(next(text, &at));
}

/* The next number with its separators, its digits as ASCII; false: there is none. */
static bool next_whole_number(const char *text, int *at, char ret[WORD_ROOM])
{
	int len = 0;

	while (text[*at] && len < WORD_ROOM - 1) {
		int before = *at;
		UChar32 c = next(text, at);

		if (is_number(c)) {
			int value = u_charDigitValue(c);
			ret[len++] = value >= 0 ? (char)('0' + value) : '#';
		} else if (len && is_separator(c) && digit_follows(text, *at)) {
			ret[len++] =
				u_charType(c) == U_SPACE_SEPARATOR ? ' ' : (char)(c < 0x80 ? c : 0x80 | (c & 0x7f));
		} else if (len) {
			*at = before;
			break;
		}
	}
	ret[len] = '\0';
	return len > 0;
}

static bool has_whole_number(const char *text, const char *wanted)
{
	char number[WORD_ROOM];

	for (int at = 0; next_whole_number(text, &at, number);)
		if (strcmp(number, wanted) == 0)
			return true;
	return false;
}

/* Spells a number, such as "zwei" for 2, in small letters and without soft hyphens; false: ICU cannot. */
static bool spell(const UNumberFormat *format, const char *language, int number, UChar ret[WORD_ROOM])
{
	UErrorCode error = U_ZERO_ERROR;
	UChar spelled[WORD_ROOM];
	int32_t len = 0;

	unum_format(format, number, spelled, WORD_ROOM, NULL, &error);
	u_strToLower(spelled, WORD_ROOM, spelled, -1, language, &error);
	for (int i = 0; U_SUCCESS(error) && spelled[i]; i++)
		if (spelled[i] != SOFT_HYPHEN)
			ret[len++] = spelled[i];
	ret[len] = 0;
	return U_SUCCESS(error) && len > 0;
}

static bool is_part_of_word(UChar c)
{
	return u_isalpha(c) || u_charType(c) == U_NON_SPACING_MARK || u_charType(c) == U_COMBINING_SPACING_MARK;
}

static bool has_word(const UChar *text, const UChar *word)
{
	int32_t len = u_strlen(word);

	for (const UChar *at = text; (at = u_strstr(at, word)); at++)
		if ((at == text || !is_part_of_word(at[-1])) && !is_part_of_word(at[len]))
			return true;
	return false;
}

static bool spells_one_of(const UNumberFormat *format, const UChar *small, const char *language, const char *known)
{
	UChar word[WORD_ROOM];
	char digits[12];

	for (int number = 2; number <= SPELLED_MOST; number++) {
		snprintf(digits, sizeof(digits), "%d", number);
		if (!has_whole_number(known, digits) && spell(format, language, number, word) && has_word(small, word))
			return true;
	}
	return false;
}

/*
 * Does the text have an unknown number in words? "One" is an article in many languages, and numbers above a
 * hundred are rarely spelled, so both are left out. Opening ICU's rules takes most of the time.
 */
static bool spells_a_new_number(const char *text, const char *language, const char *known)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar small[MODEL_TEXT_MAX];
	UNumberFormat *format = unum_open(UNUM_SPELLOUT, NULL, 0, language, NULL, &error);

	u_strFromUTF8(small, MODEL_TEXT_MAX, NULL, text, -1, &error);
	u_strToLower(small, MODEL_TEXT_MAX, small, -1, language, &error);
	bool spells = U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING ||
		spells_one_of(format, small, language, known);
	unum_close(format);
	return spells;
}

const char *model_paragraph_fault(const char *text, const char *language, const char *known)
{
	const char *fault = character_fault(text, known, true, MODEL_PARAGRAPH_MAX);
	char number[WORD_ROOM];

	if (fault)
		return fault;
	for (int at = 0; next_whole_number(text, &at, number);)
		if (!has_whole_number(known, number))
			return "a number that is not among the data's";
	if (spells_a_new_number(text, language, known))
		return "a number in words that is not among the data's";
	return words_fault(text, known, "", true);
}
