/*
 * rules_token.c: the owner's text as words, numbers, times, currency signs and marks
 *
 * Promises:  every token knows its line and column in characters; blanks, line breaks and # comments separate, nothing else
 *            does. A number is only taken where it can be read in one way: "1,000" is a thousand, "35,50" is refused.
 */
#include "bus/base/text.h"
#include "services/kit/rules_text.h"
#include <errno.h>
#include <stdio.h>

struct scan {
	const char *at;
	struct place place;
	struct place end; /* of the last token */
	struct buffer *tokens;
	struct rules_error *error;
};

/* Longest first where one begins another. */
static const char *const signs[] = { "US$", "CA$", "AU$", "NZ$", "HK$", "SG$", "MX$", "C$", "A$", "S$", "R$", "$", "€",
	"£", "¥", "￥", "₹", "₩", "₺", "₴", "₽", "₪", "฿", "₫", "₱", "₦" };
static const char *const dashes[] = { "–", "—", "−" };
static const char *const blanks[] = { " ", "\t", "\r", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xef\xbb\xbf" };
static const char *const apostrophes[] = { "'", "’" };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of the first of the list that the text begins with; 0: none. */
static size_t starts_with_any(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_starts(text, list[i]))
			return strlen(list[i]);
	return 0;
}
#define STARTS_WITH(text, list) starts_with_any((text), (list), sizeof(list) / sizeof(*(list)))

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static void advance(struct scan *scan, size_t len)
{
	for (size_t i = 0; i < len; i++, scan->at++)
		if (*scan->at == '\n')
			scan->place = (struct place){ .line = scan->place.line + 1, .column = 1 };
		else if (!is_continuation(*scan->at))
			scan->place.column++;
}

static void skip_blanks(struct scan *scan)
{
	for (;;) {
		size_t len = STARTS_WITH(scan->at, blanks);
		if (len == 0 && *scan->at == '\n')
			len = 1;
		if (len == 0 && *scan->at == '#')
			len = strcspn(scan->at, "\n");
		if (len == 0)
			return;
		advance(scan, len);
	}
}

/* Copies as lower case without commas; what does not fit becomes "", which no word is. */
static void fill_word(struct token *token)
{
	const char *from = token->source.data;
	size_t len = 0;

	for (size_t i = 0; i < token->source.len; i++) {
		if (token->kind == TOKEN_NUMBER && from[i] == ',')
			continue;
		if (len + 1 == sizeof(token->word)) {
			len = 0;
			break;
		}
		token->word[len++] = from[i] >= 'A' && from[i] <= 'Z' ? (char)(from[i] - 'A' + 'a') : from[i];
	}
	token->word[len] = '\0';
}

static void add_token(struct scan *scan, enum token_kind kind, size_t len, const char *meaning)
{
	struct token token = { .kind = kind, .place = scan->place, .source = BYTES(scan->at, len) };

	if (meaning)
		TEXT_COPY(token.word, meaning);
	else
		fill_word(&token);
	buffer_add(scan->tokens, &token, sizeof(token));
	advance(scan, len);
	scan->end = scan->place;
}

static int wrong(struct scan *scan, size_t skip, const char *what)
{
	advance(scan, skip);
	scan->error->line = scan->place.line;
	scan->error->column = scan->place.column;
	snprintf(scan->error->text, sizeof(scan->error->text), "line %d, column %d: expected %s", scan->place.line,
		scan->place.column, what);
	return -EINVAL;
}

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* "40", "1,000", "40.00"; or "21:00" */
static int scan_number(struct scan *scan)
{
	size_t len = digits(scan->at);

	if (scan->at[len] == ':' && digits(scan->at + len + 1) == 2) {
		add_token(scan, TOKEN_TIME, len + 3, NULL);
		return 0;
	}
	while (scan->at[len] == ',' && is_digit(scan->at[len + 1])) {
		if (digits(scan->at + len + 1) != 3)
			return wrong(scan, len, "a point before decimals (35.50), or a blank after the comma");
		len += 4;
	}
	if (scan->at[len] == '.' && is_digit(scan->at[len + 1]))
		len += 1 + digits(scan->at + len + 1);
	add_token(scan, TOKEN_NUMBER, len, NULL);
	return 0;
}

/* Letters of any script, with apostrophes inside ("don't", "o'clock"). */
static size_t word_length(const char *text)
{
	size_t len = 0;

	while (text[len]) {
		size_t apostrophe = STARTS_WITH(text + len, apostrophes);
		bool foreign = (unsigned char)text[len] >= 0x80;
		if (len > 0 && apostrophe && is_letter(text[len + apostrophe]))
			len += apostrophe;
		else if (is_letter(text[len]))
			len++;
		else if (foreign && !STARTS_WITH(text + len, signs) && !STARTS_WITH(text + len, dashes) &&
			!STARTS_WITH(text + len, blanks))
			len++;
		else
			break;
	}
	return len;
}

/* "a.m" of "a.m."; the last point is left, because it may also end the sentence. */
static const char *half_of_day(const char *text)
{
	bool dotted = text[0] && text[1] == '.' && (text[2] | 32) == 'm' && !is_letter(text[3]);

	if (dotted && (text[0] | 32) == 'a')
		return "am";
	return dotted && (text[0] | 32) == 'p' ? "pm" : NULL;
}

static int scan_token(struct scan *scan)
{
	size_t len;

	if (is_digit(*scan->at))
		return scan_number(scan);
	if ((len = STARTS_WITH(scan->at, signs)))
		add_token(scan, TOKEN_SIGN, len, NULL);
	else if ((len = STARTS_WITH(scan->at, dashes)))
		add_token(scan, TOKEN_MARK, len, "-");
	else if (half_of_day(scan->at))
		add_token(scan, TOKEN_WORD, 3, half_of_day(scan->at));
	else if ((len = word_length(scan->at)))
		add_token(scan, TOKEN_WORD, len, NULL);
	else if ((unsigned char)*scan->at < ' ' || *scan->at == 0x7f)
		return wrong(scan, 0, "text, found a control character");
	else
		add_token(scan, TOKEN_MARK, 1, NULL);
	return 0;
}

int rules_tokens(const char *text, struct buffer *ret, struct rules_error *ret_error)
{
	struct scan scan = { .at = text, .place = { 1, 1 }, .end = { 1, 1 }, .tokens = ret, .error = ret_error };

	if (!text_is_utf8(bytes_of(text)))
		return wrong(&scan, 0, "text in UTF-8");
	for (skip_blanks(&scan); *scan.at; skip_blanks(&scan)) {
		int err = scan_token(&scan);
		if (err < 0)
			return err;
	}
	scan.place = scan.end;
	add_token(&scan, TOKEN_END, 0, "");
	return 0;
}
