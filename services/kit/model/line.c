/*
 * line.c: judges whether a line or a paragraph of a model may be mailed
 *
 * Promises:  pure. A line that passes has no link and no markup that was not in the original line. It has none
 *            of these that the model was not given: a number in digits, or one up to a hundred in words as
 *            ICU spells them; a currency; a word for a percentage or a discount that the rules know. Other
 *            words can still promise something ("a gift", "half price"): an item's title may ask for them, and
 *            no list would hold them all. Numbers of a paragraph are compared as a whole: "12,50" does not
 *            allow "50".
 * Read next: model.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/model/model.h"
#include "services/kit/rules/rules.h"
#include <stdio.h>
#include <stdlib.h>
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

/* ---- whole numbers, in digits and in words ---- */

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

/* A text to look for spelled numbers, and the text that may have them already; both in small letters. */
struct spelling {
	const UChar *text, *known;
	const char *known_digits;
	const char *language;
};

static bool spells_one_of(const UNumberFormat *format, const struct spelling *spelling)
{
	UChar word[WORD_ROOM];
	char digits[12];

	for (int number = 2; number <= SPELLED_MOST; number++) {
		snprintf(digits, sizeof(digits), "%d", number);
		if (!has_whole_number(spelling->known_digits, digits) &&
			spell(format, spelling->language, number, word) && has_word(spelling->text, word) &&
			!has_word(spelling->known, word))
			return true;
	}
	return false;
}

/* The text in small letters, which the caller frees; NULL: ICU cannot make it. */
static UChar *small_of(const char *text, const char *language)
{
	UErrorCode error = U_ZERO_ERROR;
	int32_t room = 2 * (int32_t)strlen(text) + 1;
	UChar *small = memory_new((size_t)room * sizeof(*small));

	u_strFromUTF8(small, room, NULL, text, -1, &error);
	u_strToLower(small, room, small, -1, language, &error);
	if (U_SUCCESS(error) && error != U_STRING_NOT_TERMINATED_WARNING)
		return small;
	free(small);
	return NULL;
}

/*
 * Does the text have an unknown number in words? "One" is an article in many languages, and numbers above a
 * hundred are rarely spelled, so both are left out. Opening ICU's rules takes most of the time.
 */
static bool spells_a_new_number(const char *text, const char *language, const char *known)
{
	UErrorCode error = U_ZERO_ERROR;
	_cleanup_free_ UChar *small = small_of(text, language), *small_known = small_of(known, language);
	UNumberFormat *format = unum_open(UNUM_SPELLOUT, NULL, 0, language, NULL, &error);
	const struct spelling spelling = {
		.text = small, .known = small_known, .known_digits = known, .language = language
	};
	bool spells = U_FAILURE(error) || !small || !small_known || spells_one_of(format, &spelling);

	unum_close(format);
	return spells;
}

const char *model_line_fault(const char *line, const char *language, const char *own, const char *data)
{
	const char *fault = character_fault(line, own, false, MODEL_LINE_MAX);
	_cleanup_(buffer_free) struct buffer known = { 0 };

	fault = fault ? fault : words_fault(line, own, data, false);
	if (fault)
		return fault;
	buffer_printf(&known, "%s\n%s", own, data);
	if (spells_a_new_number(line, language, buffer_text(&known)))
		return "a number in words that was not there before";
	if (rules_text_adds_money(line, language, buffer_text(&known)))
		return "a word for money or a discount that was not there before";
	return NULL;
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
