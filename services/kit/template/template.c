/*
 * template.c: parses texts with values in braces, and walks them
 *
 * Owns:      the pieces of a template.
 * Promises:  a template that parses can be rendered with any values. An {if} ends in its own template.
 * Fails by:  -EINVAL with line, column and the expected text.
 * Read next: carts/letter/voice.c (the templates of a voice), carts/letter/render.c (the sinks)
 */
#include "services/kit/template/template.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

enum piece_kind { PIECE_TEXT, PIECE_VALUE, PIECE_PLURAL, PIECE_IF, PIECE_ELSE, PIECE_END, PIECE_BOLD, PIECE_LINK };

enum { PLURALS = sizeof(locale_plurals) / sizeof(locale_plurals[0]) };

struct piece {
	enum piece_kind kind;
	int value;                   /* index of its row in the table of words */
	char *text;                  /* of PIECE_TEXT and PIECE_LINK; the label of PIECE_VALUE, or NULL */
	struct template **forms;     /* of PIECE_PLURAL: for each of locale_plurals the words, or NULL */
	char *url;                   /* of PIECE_LINK */
	struct template_place place; /* of `url` */
	bool on;                     /* of PIECE_BOLD: it begins */
};

struct template
{
	struct piece *pieces;
	size_t count;
};

struct parser {
	const char *at;
	struct template_place place; /* of `at` */
	struct template *template;
	const struct template_words *words;
	struct text_error *error;
	enum piece_kind open; /* PIECE_IF or PIECE_ELSE while inside a condition, else PIECE_END */
	struct template_place opened;
	bool bold; /* inside of bold words, which began at `bolded` */
	struct template_place bolded;
};

__attribute__((format(printf, 3, 4))) static int refuse(
	struct parser *parser, struct template_place place, const char *format, ...)
{
	char words[300];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	parser->error->line = place.line;
	parser->error->column = place.column;
	snprintf(parser->error->text, sizeof(parser->error->text), "line %d, column %d: %s", place.line, place.column,
		words);
	return -EINVAL;
}

/* Writes the names of the words: "{shop}, {first name}", with `behind` after each name; cuts a long list. */
static void list_words(const struct template_words *words, bool only_numbers, const char *behind, char ret[240])
{
	size_t len = 0;

	ret[0] = '\0';
	for (int i = 0; i < words->count && len < 240; i++)
		if (!only_numbers || words->rows[i].kind == TEMPLATE_NUMBER)
			len += (size_t)snprintf(
				ret + len, 240 - len, "%s{%s%s}", len ? ", " : "", words->rows[i].name, behind);
}

static int refuse_name(struct parser *parser, const char *before)
{
	char known[240];

	list_words(parser->words, false, "", known);
	return refuse(parser, parser->place, "%sexpected one of %s", before, known);
}

static void step_over(struct parser *parser, const char *to)
{
	for (; parser->at < to; parser->at++) {
		if (*parser->at == '\n') {
			parser->place.line++;
			parser->place.column = 1;
		} else if ((*parser->at & 0xc0) != 0x80) { /* columns count characters, not bytes */
			parser->place.column++;
		}
	}
}

static void add_piece(struct template *template, struct piece piece)
{
	template->pieces = memory_resize(template->pieces, (template->count + 1) * sizeof(piece));
	template->pieces[template->count++] = piece;
}

static void add_text(struct template *template, const char *from, size_t len)
{
	if (len)
		add_piece(template, (struct piece){ .kind = PIECE_TEXT, .text = memory_copy(BYTES(from, len)) });
}

/* The length of a quote at `at`, plain or typographic: each may open and close a label. 0: there is none. */
static size_t quote_length(const char *at)
{
	static const char *const quotes[] = { "\"", "\u201c", "\u201d", "\u201e" };
	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++)
		if (strncmp(at, quotes[i], strlen(quotes[i])) == 0)
			return strlen(quotes[i]);
	return 0;
}

/* The parts of the text between two braces: `name`, and perhaps a quoted label, with or without "or". */
struct inside {
	char name[40];
	char *label;
	bool has_or;
};

static void inside_free(struct inside *inside)
{
	free(inside->label);
}

static int read_label(struct parser *parser, const char *at, const char *end, struct inside *ret)
{
	const char *from = at + quote_length(at), *to = from;
	while (to < end && !quote_length(to))
		to++;
	if (to == end)
		return refuse(parser, parser->place, "a quote is opened and not closed before }");
	const char *rest = to + quote_length(to);
	while (rest < end && isspace((unsigned char)*rest))
		rest++;
	if (rest != end)
		return refuse(parser, parser->place, "expected } after the quoted words");
	ret->label = memory_copy(BYTES(from, (size_t)(to - from)));
	return 0;
}

/* Reads the name in lower case, with one blank between words, and the label behind it. */
static int read_name(struct parser *parser, const char *at, const char *end, struct inside *ret)
{
	size_t len = 0;
	for (; at < end && !quote_length(at); at++) {
		bool blank = isspace((unsigned char)*at);
		if (blank && (len == 0 || ret->name[len - 1] == ' '))
			continue;
		if (len + 1 >= sizeof(ret->name))
			return refuse_name(parser, "");
		ret->name[len++] = blank ? ' ' : (char)tolower((unsigned char)*at);
	}
	while (len && ret->name[len - 1] == ' ')
		len--;
	ret->name[len] = 0;
	if (len > 3 && at < end && strcmp(ret->name + len - 3, " or") == 0) {
		ret->has_or = true;
		ret->name[len - 3] = 0;
	}
	return at < end ? read_label(parser, at, end, ret) : 0;
}

static int find_value(struct parser *parser, const char *name, int *ret)
{
	const struct template_words *words = parser->words;
	struct nearest nearest = nearest_begin(name);
	char before[80];

	for (int i = 0; i < words->count; i++) {
		if (strcasecmp(words->rows[i].name, name) != 0)
			continue;
		*ret = i;
		return 0;
	}
	for (int i = 0; i < words->count; i++)
		nearest_try(&nearest, words->rows[i].name);
	if (nearest.name)
		return refuse(parser, parser->place, "unknown {%s}; did you mean {%s}?", name, nearest.name);
	snprintf(before, sizeof(before), "unknown {%s}; ", name);
	return refuse_name(parser, before);
}

static int refuse_open_bold(struct parser *parser, const char *where)
{
	return refuse(parser, parser->bolded,
		"** begins bold words that do not end %s: write ** behind the last of them (for plain asterisks write "
		"\\**)",
		where);
}

static int add_condition(struct parser *parser, const char *name)
{
	struct piece piece = { .kind = PIECE_IF };
	if (parser->bold)
		return refuse_open_bold(parser, "before the {if}");
	if (parser->open != PIECE_END)
		return refuse(
			parser, parser->place, "an {if} inside another one is not possible: expected {end} before it");
	int r = find_value(parser, name, &piece.value);
	if (r < 0)
		return r;
	parser->open = PIECE_IF;
	parser->opened = parser->place;
	add_piece(parser->template, piece);
	return 0;
}

static int add_value(struct parser *parser, struct inside *inside)
{
	struct piece piece = { .kind = PIECE_VALUE };
	int r = find_value(parser, inside->name, &piece.value);
	if (r < 0)
		return r;
	const struct template_word *word = &parser->words->rows[piece.value];
	if (parser->place.one_line && !word->fits_line)
		return refuse(parser, parser->place, "{%s} can only stand in a Body or Footer", inside->name);
	if (parser->bold && (word->kind == TEMPLATE_BLOCK || word->kind == TEMPLATE_LINK))
		return refuse(parser, parser->place, "{%s} cannot be bold: expected ** before it", inside->name);
	if (inside->label && (word->kind == TEMPLATE_LINK) == inside->has_or)
		return refuse(parser, parser->place,
			inside->has_or ? "a link always exists: expected {%s \"words\"} without \"or\""
				       : "expected {%s or \"words\"}",
			inside->name);
	piece.text = TAKE(inside->label);
	add_piece(parser->template, piece);
	return 0;
}

static int add_inside(struct parser *parser, struct inside *inside)
{
	if (strncmp(inside->name, "if ", 3) == 0 && !inside->label)
		return add_condition(parser, inside->name + 3);
	if (strcmp(inside->name, "else") == 0) {
		if (parser->open != PIECE_IF)
			return refuse(parser, parser->place, "{else} without an {if} before it");
		if (parser->bold)
			return refuse_open_bold(parser, "before the {else}");
		parser->open = PIECE_ELSE;
		add_piece(parser->template, (struct piece){ .kind = PIECE_ELSE });
		return 0;
	}
	if (strcmp(inside->name, "end") == 0) {
		if (parser->open == PIECE_END)
			return refuse(parser, parser->place, "{end} without an {if} before it");
		if (parser->bold)
			return refuse_open_bold(parser, "before the {end}");
		parser->open = PIECE_END;
		add_piece(parser->template, (struct piece){ .kind = PIECE_END });
		return 0;
	}
	return add_value(parser, inside);
}

static void forms_free(struct template **forms)
{
	for (int i = 0; forms && i < PLURALS; i++)
		template_free(forms[i]);
	free(forms);
}

void template_free(struct template *template)
{
	if (!template)
		return;
	for (size_t i = 0; i < template->count; i++) {
		free(template->pieces[i].text);
		free(template->pieces[i].url);
		forms_free(template->pieces[i].forms);
	}
	free(template->pieces);
	free(template);
}

/* Makes a template of a form such as "# things": the number stands in place of each '#'. */
static struct template *form_new(const char *from, const char *to, int value)
{
	struct template *form = memory_new(sizeof(*form));

	while (from < to) {
		const char *number = memchr(from, '#', (size_t)(to - from));
		const char *stop = number ? number : to;
		add_text(form, from, (size_t)(stop - from));
		if (number)
			add_piece(form, (struct piece){ .kind = PIECE_VALUE, .value = value });
		from = stop + (number ? 1 : 0);
	}
	return form;
}

/* ---- {item count: one "one thing", other "# things"} ---- */

static int read_category(struct parser *parser, const char *at, size_t len)
{
	for (int i = 0; i < PLURALS; i++)
		if (strlen(locale_plurals[i]) == len && strncasecmp(locale_plurals[i], at, len) == 0)
			return i;
	return refuse(parser, parser->place, "expected zero, one, two, few, many or other before the quoted words");
}

/* Reads one category and its words, and moves `at` behind them and the comma. */
static int read_form(struct parser *parser, const char **at, const char *end, int value, struct template **forms)
{
	const char *word = *at, *from;

	while (*at < end && isalpha((unsigned char)**at))
		++*at;
	int category = read_category(parser, word, (size_t)(*at - word));
	if (category < 0)
		return category;
	*at += strspn(*at, " \t");
	from = *at + quote_length(*at);
	if (from == *at || from > end)
		return refuse(parser, parser->place, "expected words in quotes after \"%s\"", locale_plurals[category]);
	const char *to = from;
	while (to < end && !quote_length(to))
		to++;
	if (to == end)
		return refuse(parser, parser->place, "a quote is opened and not closed before }");
	if (forms[category])
		return refuse(parser, parser->place, "\"%s\" is given twice", locale_plurals[category]);
	forms[category] = form_new(from, to, value);
	*at = to + quote_length(to);
	*at += strspn(*at, ", \t");
	return 0;
}

DEFINE_CLEANUP(struct template **, forms_free)

static int find_number(struct parser *parser, const char *name, int *ret)
{
	const struct template_words *words = parser->words;
	char known[240];

	for (int i = 0; i < words->count; i++)
		if (words->rows[i].kind == TEMPLATE_NUMBER && strcmp(words->rows[i].name, name) == 0) {
			*ret = i;
			return 0;
		}
	list_words(words, true, ": ...", known);
	if (!known[0])
		return refuse(parser, parser->place, "nothing here has words by number");
	return refuse(parser, parser->place, "only %s has words by number", known);
}

static int add_plural(struct parser *parser, const char *colon, const char *end)
{
	_cleanup_(forms_freep) struct template **forms = memory_new(PLURALS * sizeof(*forms));
	_cleanup_(inside_free) struct inside inside = { 0 };
	int value = -1, r = read_name(parser, parser->at + 1, colon, &inside);

	if (r == 0)
		r = find_number(parser, inside.name, &value);
	const char *at = colon + 1 + strspn(colon + 1, " \t");
	while (r == 0 && at < end)
		r = read_form(parser, &at, end, value, forms);
	if (r == 0 && !forms[PLURALS - 1])
		return refuse(parser, parser->place, "expected words for \"other\": {%s: one \"...\", other \"# ...\"}",
			inside.name);
	if (r == 0)
		add_piece(
			parser->template, (struct piece){ .kind = PIECE_PLURAL, .value = value, .forms = TAKE(forms) });
	return r;
}

static int parse_brace(struct parser *parser)
{
	_cleanup_(inside_free) struct inside inside = { 0 };
	const char *end = parser->at + strcspn(parser->at, "}\n");
	if (*end != '}')
		return refuse(parser, parser->place, "a { is not closed with } on its line (write {{ for a plain {)");
	if (memmem(parser->at, (size_t)(end - parser->at), "**", 2))
		return refuse(
			parser, parser->place, "** stands around the braces of what is to be bold, not inside them");
	const char *colon = parser->at;
	while (colon < end && *colon != ':' && !quote_length(colon))
		colon++;
	int r;
	if (colon < end && *colon == ':') {
		r = add_plural(parser, colon, end);
	} else {
		r = read_name(parser, parser->at + 1, end, &inside);
		if (r == 0)
			r = add_inside(parser, &inside);
	}
	if (r == 0)
		step_over(parser, end + 1);
	return r;
}

/* ---- **bold** and [words](https://...) ---- */

static bool is_blank_or_end(char c)
{
	return c == 0 || isspace((unsigned char)c);
}

/* Takes `len` bytes as plain text. */
static int take_plain(struct parser *parser, size_t len)
{
	add_text(parser->template, parser->at, len);
	step_over(parser, parser->at + len);
	return 0;
}

/* A single asterisk, and ** before a blank, are plain text. */
static int parse_asterisk(struct parser *parser)
{
	if (parser->at[1] != '*')
		return take_plain(parser, 1);
	if (!parser->bold && (is_blank_or_end(parser->at[2]) || parser->at[2] == '*'))
		return take_plain(parser, strspn(parser->at, "*"));
	if (parser->place.one_line)
		return refuse(parser, parser->place,
			"bold words can only stand in a Body or Footer (for plain asterisks write \\**)");
	parser->bold = !parser->bold;
	parser->bolded = parser->place;
	add_piece(parser->template, (struct piece){ .kind = PIECE_BOLD, .on = parser->bold });
	step_over(parser, parser->at + 2);
	return 0;
}

/* Is it "https://" and a host, without characters that could end the HTML attribute around it? */
static bool is_address(struct bytes url)
{
	static const char scheme[] = "https://";
	const char *at = url.data;

	if (url.len <= strlen(scheme) || memcmp(at, scheme, strlen(scheme)) != 0)
		return false;
	for (size_t i = 0; i < url.len; i++)
		if ((unsigned char)at[i] <= ' ' || at[i] == 0x7f || strchr("\"'<>\\`{}", at[i]))
			return false;
	return true;
}

static int add_link(struct parser *parser, const char *close)
{
	const char *words = parser->at + 1, *url = close + 2;
	size_t words_len = (size_t)(close - words), url_len = strcspn(url, ") \t\n");
	struct piece piece = { .kind = PIECE_LINK };

	if (parser->place.one_line)
		return refuse(parser, parser->place,
			"a link can only stand in a Body or Footer (for a plain bracket write \\[)");
	if (words_len == 0 || strcspn(words, "{}*") < words_len)
		return refuse(parser, parser->place,
			"the words of a link are plain ones, without braces and asterisks: [our opening "
			"hours](https://...)");
	step_over(parser, url);
	if (url[url_len] != ')' || !is_address(BYTES(url, url_len)))
		return refuse(parser, parser->place,
			"expected an address that begins with https:// and ends with ), without blanks: "
			"[words](https://...)");
	piece.place = parser->place;
	piece.text = memory_copy(BYTES(words, words_len));
	piece.url = memory_copy(BYTES(url, url_len));
	add_piece(parser->template, piece);
	step_over(parser, url + url_len + 1);
	return 0;
}

/* A bracket that begins no link is plain text. */
static int parse_bracket(struct parser *parser)
{
	const char *close = parser->at + 1 + strcspn(parser->at + 1, "[]\n");

	return close[0] == ']' && close[1] == '(' ? add_link(parser, close) : take_plain(parser, 1);
}

static int parse_backslash(struct parser *parser)
{
	size_t asterisks = strspn(parser->at + 1, "*");

	if (!asterisks && parser->at[1] != '[')
		return take_plain(parser, 1);
	step_over(parser, parser->at + 1);
	return take_plain(parser, asterisks ? asterisks : 1);
}

static int parse_line_end(struct parser *parser)
{
	size_t blank = 1 + strspn(parser->at + 1, " \t");

	if (parser->bold && (parser->at[blank] == '\n' || parser->at[blank] == 0))
		return refuse_open_bold(parser, "in their paragraph");
	return take_plain(parser, 1);
}

static int parse_doubled_or_brace(struct parser *parser)
{
	if (parser->at[1] == parser->at[0]) {
		add_text(parser->template, parser->at, 1);
		step_over(parser, parser->at + 2);
		return 0;
	}
	if (*parser->at == '}')
		return refuse(parser, parser->place, "a } without { before it (write }} for a plain })");
	return parse_brace(parser);
}

static int parse_special(struct parser *parser)
{
	switch (*parser->at) {
	case '*':
		return parse_asterisk(parser);
	case '[':
		return parse_bracket(parser);
	case '\\':
		return parse_backslash(parser);
	case '\n':
		return parse_line_end(parser);
	default:
		return parse_doubled_or_brace(parser);
	}
}

static int parse_pieces(struct parser *parser)
{
	int r = 0;

	while (r == 0 && *parser->at) {
		take_plain(parser, strcspn(parser->at, parser->bold ? "{}*[\\\n" : "{}*[\\"));
		r = *parser->at ? parse_special(parser) : 0;
	}
	if (r == 0 && parser->bold)
		r = refuse_open_bold(parser, "in their paragraph");
	if (r == 0 && parser->open != PIECE_END)
		r = refuse(parser, parser->opened, "this {if} has no {end}");
	return r;
}

int template_parse(const char *text, struct template_place place, const struct template_words *words,
	struct template **ret, struct text_error *ret_error)
{
	struct parser parser = { .at = text,
		.words = words,
		.place = place,
		.template = memory_new(sizeof(struct template)),
		.error = ret_error,
		.open = PIECE_END };
	int r = parse_pieces(&parser);
	if (r < 0) {
		template_free(parser.template);
		return r;
	}
	*ret = parser.template;
	return 0;
}

bool template_uses(const struct template *template, int value)
{
	for (size_t i = 0; i < template->count; i++)
		if (template->pieces[i].kind == PIECE_VALUE && template->pieces[i].value == value)
			return true;
	return false;
}

static bool piece_mentions(const struct piece *piece, int value)
{
	for (int i = 0; piece->kind == PIECE_PLURAL && i < PLURALS; i++)
		if (template_mentions(piece->forms[i], value))
			return true;
	return (piece->kind == PIECE_VALUE || piece->kind == PIECE_IF) && piece->value == value;
}

bool template_mentions(const struct template *template, int value)
{
	for (size_t i = 0; template && i < template->count; i++)
		if (piece_mentions(&template->pieces[i], value))
			return true;
	return false;
}

const char *template_link_beyond(const struct template *template, bool (*allowed)(const void *context, const char *url),
	const void *context, struct template_place *ret)
{
	for (size_t i = 0; template && i < template->count; i++) {
		const struct piece *piece = &template->pieces[i];

		if (piece->kind != PIECE_LINK || allowed(context, piece->url))
			continue;
		*ret = piece->place;
		return piece->url;
	}
	return NULL;
}

static const struct template *form_of(const struct piece *piece, const char *category)
{
	for (int i = 0; i < PLURALS; i++)
		if (piece->forms[i] && strcmp(locale_plurals[i], category) == 0)
			return piece->forms[i];
	return piece->forms[PLURALS - 1];
}

void template_walk(const struct template *template, const struct template_sink *sink)
{
	bool shown = true;
	for (size_t i = 0; i < template->count; i++) {
		const struct piece *piece = &template->pieces[i];
		switch (piece->kind) {
		case PIECE_IF:
			shown = sink->has(sink->context, piece->value);
			break;
		case PIECE_ELSE:
			shown = !shown;
			break;
		case PIECE_END:
			shown = true;
			break;
		case PIECE_TEXT:
			if (shown)
				sink->text(sink->context, piece->text);
			break;
		case PIECE_BOLD:
			if (shown)
				sink->bold(sink->context, piece->on);
			break;
		case PIECE_LINK:
			if (shown)
				sink->link(sink->context, piece->text, piece->url);
			break;
		case PIECE_PLURAL:
			if (shown)
				template_walk(form_of(piece, sink->plural(sink->context, piece->value)), sink);
			break;
		case PIECE_VALUE:
			if (shown)
				sink->value(sink->context, piece->value, piece->text);
			break;
		}
	}
}
