/*
 * token.c: splits a text in any language into words, numbers, times, currency signs and marks
 *
 * Promises:  every token has its line and its column in characters. Blanks, line breaks and # comments are
 *            left out, nothing else is. In scripts without blanks each character is one token; words.c joins
 *            them to phrases.
 * Read next: words.c, items.c
 */
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/rules/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

struct scan {
	const char *at;
	struct place place;
	const char *end_at; /* of the last token */
	struct place end;
	struct buffer *tokens;
	struct rules_error *error;
};

/* If one sign begins with another, the longer one comes first. */
static const char *const signs[] = { "US$", "CA$", "AU$", "NZ$", "HK$", "SG$", "MX$", "C$", "A$", "S$", "R$", "$", "€",
	"£", "¥", "￥", "₹", "₩", "₺", "₴", "₽", "₪", "฿", "₫", "₱", "₦" };

static size_t sign_length(const char *text)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (text_starts(text, signs[i]))
			return strlen(signs[i]);
	return 0;
}

/* Returns the character at `text`, which is valid UTF-8, and its length. */
static UChar32 character(const char *text, size_t *ret_len)
{
	int32_t len = 0, room = (int32_t)strnlen(text, 4);
	UChar32 c = 0;

	if (room > 0)
		U8_NEXT((const uint8_t *)text, len, room, c);
	*ret_len = (size_t)len;
	return c;
}

static void advance(struct scan *scan, size_t len)
{
	for (size_t i = 0; i < len; i++, scan->at++)
		if (*scan->at == '\n')
			scan->place = (struct place){ .line = scan->place.line + 1, .column = 1 };
		else if (((unsigned char)*scan->at & 0xc0) != 0x80)
			scan->place.column++;
}

/* Marks of direction and joiners are invisible, so they count as blanks. */
static bool is_blank(UChar32 c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0x3000 || c == 0xfeff ||
		(c >= 0x2000 && c <= 0x200f) || c == 0x202f || c == 0xa0 || (c >= 0x202a && c <= 0x202e);
}

static void skip_blanks(struct scan *scan)
{
	for (;;) {
		size_t len;
		UChar32 c = character(scan->at, &len);
		if (c == '#')
			len = strcspn(scan->at, "\n");
		else if (len == 0 || !is_blank(c))
			return;
		advance(scan, len);
	}
}

static bool is_apostrophe(UChar32 c)
{
	return c == '\'' || c == 0x2019;
}

/* Is each character of this script one token? */
static bool stands_alone(UChar32 c)
{
	UErrorCode error = U_ZERO_ERROR;
	UScriptCode script = uscript_getScript(c, &error);

	return script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA || c == 0x30fc;
}

static bool is_mark_of_letter(UChar32 c)
{
	return (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0 || c == 0x200c || c == 0x200d;
}

static bool is_letter(UChar32 c)
{
	return (u_isalpha(c) || is_mark_of_letter(c)) && !stands_alone(c);
}

static bool is_accent(UChar c)
{
	return (c >= 0x300 && c <= 0x36f) || (c >= 0x64b && c <= 0x65f) || c == 0x670 || c == 0x640 || c == 0x200c ||
		c == 0x200d;
}

static const UNormalizer2 *normalizer(bool decompose)
{
	UErrorCode error = U_ZERO_ERROR;
	const UNormalizer2 *found = decompose ? unorm2_getNFKDInstance(&error) : unorm2_getNFCInstance(&error);

	if (U_FAILURE(error))
		die("ICU cannot normalize text: %s (is the package libicu72 complete?)", u_errorName(error));
	return found;
}

/* Lower case without accents: "Körbe" and "korbe" become equal. A word that does not fit becomes "". */
static void fold(struct bytes source, char *ret, int room)
{
	enum { WIDE = 128 };
	UChar text[WIDE], split[WIDE], folded[WIDE];
	UErrorCode error = U_ZERO_ERROR;
	int32_t len = 0, kept = 0;

	*ret = '\0';
	u_strFromUTF8(text, WIDE, &len, source.data, (int32_t)source.len, &error);
	len = u_strFoldCase(folded, WIDE, text, len, U_FOLD_CASE_DEFAULT, &error);
	len = unorm2_normalize(normalizer(true), folded, len, split, WIDE, &error);
	if (U_FAILURE(error))
		return;
	for (int32_t i = 0; i < len; i++)
		if (!is_accent(split[i]))
			split[kept++] = is_apostrophe(split[i]) ? '\'' : split[i];
	len = unorm2_normalize(normalizer(false), split, kept, text, WIDE, &error);
	u_strToUTF8(ret, room, NULL, text, len, &error);
	if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING)
		*ret = '\0';
}

static void fold_ascii(struct bytes source, char *ret)
{
	const char *from = source.data;

	for (size_t i = 0; i < source.len; i++)
		ret[i] = from[i] >= 'A' && from[i] <= 'Z' ? (char)(from[i] - 'A' + 'a') : from[i];
	ret[source.len] = '\0';
}

static bool is_ascii(struct bytes source)
{
	for (size_t i = 0; i < source.len; i++)
		if (((const unsigned char *)source.data)[i] >= 0x80)
			return false;
	return true;
}

static void add_token(struct scan *scan, enum token_kind kind, size_t len, const char *meaning)
{
	struct token token = { .kind = kind, .place = scan->place, .source = BYTES(scan->at, len) };
	size_t first;
	UChar32 c = character(scan->at, &first);

	token.joined = scan->at == scan->end_at;
	token.upper = !u_islower(c) && u_isalpha(c);
	if (meaning)
		TEXT_COPY(token.word, meaning);
	else if (is_ascii(token.source) && len < sizeof(token.word))
		fold_ascii(token.source, token.word);
	else
		fold(token.source, token.word, sizeof(token.word));
	buffer_add(scan->tokens, &token, sizeof(token));
	advance(scan, len);
	scan->end = scan->place;
	scan->end_at = scan->at;
}

static int wrong(struct scan *scan, const char *what)
{
	scan->error->line = scan->place.line;
	scan->error->column = scan->place.column;
	snprintf(scan->error->text, sizeof(scan->error->text), "line %d, column %d: expected %s", scan->place.line,
		scan->place.column, what);
	return -EINVAL;
}

/* Appends digits of any script to `ret` as ASCII digits, as far as there is room. Returns the bytes read. */
static size_t take_digits(const char *text, char *ret, size_t room)
{
	size_t taken = 0, len, used = strlen(ret);

	for (;; taken += len) {
		UChar32 c = character(text + taken, &len);
		int digit = len ? u_charDigitValue(c) : -1;
		if (digit < 0)
			return taken;
		if (used + 1 < room) {
			ret[used++] = (char)('0' + digit);
			ret[used] = '\0';
		}
	}
}

static int digit_count(const char *text)
{
	char digits[8] = "";

	take_digits(text, digits, sizeof(digits));
	return (int)strlen(digits);
}

/* The sign as which a character between digits is read; 0: it may not stand there. */
static char separator(const char *text, size_t *ret_len)
{
	UChar32 c = character(text, ret_len);

	switch (c) {
	case '.':
	case ',':
		return (char)c;
	case '\'':
	case 0x2019:
		return '\'';
	case 0xa0: /* blanks that do not break */
	case 0x202f:
		return '\'';
	case 0x66b: /* with Arabic digits: the decimal point; 0x66c separates thousands */
		return ':';
	case 0x66c:
		return '\'';
	default:
		return 0;
	}
}

/* The length of ",-" in "40,-", or of ".--" in "40.--", which both mean 40; 0: there is none. */
static size_t no_cents(const char *text)
{
	size_t len = 0;

	if (*text != ',' && *text != '.')
		return 0;
	text++;
	while (text_starts(text + len, "-") || text_starts(text + len, "–"))
		len += text[len] == '-' ? 1 : strlen("–");
	return len ? len + 1 : 0;
}

/*
 * Reads "40", "1,000", "1.000,50", "1 000" (with a no-break blank), "40,-", or "21:00". In the word of a
 * number, ':' stands for a sign that is certainly a decimal point.
 */
static void scan_number(struct scan *scan)
{
	char word[48] = "";
	size_t len = take_digits(scan->at, word, sizeof(word) - 1), skip; /* one byte is left for the colon */
	UChar32 colon = character(scan->at + len, &skip);

	if ((colon == ':' || colon == 0xff1a) && digit_count(scan->at + len + skip) == 2) {
		strcat(word, ":");
		len += skip;
		len += take_digits(scan->at + len, word, sizeof(word));
		add_token(scan, TOKEN_TIME, len, word);
		return;
	}
	for (;;) {
		char between = separator(scan->at + len, &skip);
		if (!between || digit_count(scan->at + len + skip) == 0 || strlen(word) > 40)
			break;
		size_t used = strlen(word);
		word[used] = between;
		word[used + 1] = '\0';
		len += skip;
		len += take_digits(scan->at + len, word, sizeof(word));
	}
	if (strlen(word) > 40)
		*word = '\0';
	add_token(scan, TOKEN_NUMBER, len + no_cents(scan->at + len), word);
}

/*
 * The length of a word in any script. An apostrophe ends a word and belongs to it ("don'", "l'"), or begins
 * one ("'s").
 */
static size_t word_length(const char *text)
{
	size_t len = 0, one;

	for (;;) {
		UChar32 c = character(text + len, &one);
		if (one == 0)
			return len;
		if (is_apostrophe(c)) {
			size_t next;
			bool goes_on = is_letter(character(text + len + one, &next)) && next > 0;
			if (len > 0)
				return goes_on ? len + one : len;
			if (!goes_on)
				return 0;
		} else if (!is_letter(c) || (len > 0 && sign_length(text + len))) {
			return len;
		}
		len += one;
	}
}

/* "am" or "pm" for the "a.m" of "a.m." or "p.m."; the last point is left, because it may end the sentence. */
static const char *half_of_day(const char *text)
{
	bool dotted = text[0] && text[1] == '.' && (text[2] | 32) == 'm' && !u_isalpha(text[3]);

	if (dotted && (text[0] | 32) == 'a')
		return "am";
	return dotted && (text[0] | 32) == 'p' ? "pm" : NULL;
}

/* The ASCII form of a mark that scripts write differently; NULL: the mark as it is. */
static const char *mark_of(UChar32 c)
{
	switch (c) {
	case 0x3002: /* full stops of Japanese, Hindi, Urdu, and in full and half width */
	case 0x964:
	case 0x6d4:
	case 0xff0e:
	case 0xff61:
	case '!':
	case 0xff01:
		return ".";
	case 0x3001:
	case 0x60c:
	case 0xff0c:
		return ",";
	case 0x61b:
	case 0xff1b:
		return ";";
	case 0xff1a:
		return ":";
	case 0xff08:
		return "(";
	case 0xff09:
		return ")";
	case 0x66a:
	case 0xff05:
		return "%";
	case 0x2013:
	case 0x2014:
	case 0x2212:
		return "-";
	case 0x301c:
	case 0xff5e:
		return "~";
	default:
		return NULL;
	}
}

static int scan_token(struct scan *scan)
{
	size_t len, one;
	UChar32 c = character(scan->at, &one);

	if (u_charDigitValue(c) >= 0 && u_isdigit(c))
		scan_number(scan);
	else if ((len = sign_length(scan->at)))
		add_token(scan, TOKEN_SIGN, len, NULL);
	else if (half_of_day(scan->at))
		add_token(scan, TOKEN_WORD, 3, half_of_day(scan->at));
	else if (stands_alone(c))
		add_token(scan, TOKEN_WORD, one, NULL);
	else if ((len = word_length(scan->at)))
		add_token(scan, TOKEN_WORD, len, NULL);
	else if (c < ' ' || c == 0x7f)
		return wrong(scan, "text, found a control character");
	else
		add_token(scan, TOKEN_MARK, one, mark_of(c));
	return 0;
}

int rules_tokens(const char *text, struct buffer *ret, struct rules_error *ret_error)
{
	struct scan scan = { .at = text, .place = { 1, 1 }, .end = { 1, 1 }, .tokens = ret, .error = ret_error };

	if (!text_is_utf8(bytes_of(text)))
		return wrong(&scan, "text in UTF-8");
	for (skip_blanks(&scan); *scan.at; skip_blanks(&scan)) {
		int err = scan_token(&scan);
		if (err < 0)
			return err;
	}
	scan.place = scan.end;
	add_token(&scan, TOKEN_END, 0, "");
	return 0;
}
