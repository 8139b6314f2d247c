/*
 * template.c: parses and walks text with values in braces
 *
 * Owns:      the pieces of a template.
 * Promises:  a template that parses renders for every cart; an {if} is closed in the template that opened it.
 * Fails by:  -EINVAL with line, column and what was expected.
 * Read next: voice.c (which templates a voice consists of), mail_render.c (the sinks)
 */
#include "services/kit/template.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/kit/voice.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <strings.h>

enum piece_kind { PIECE_TEXT, PIECE_VALUE, PIECE_IF, PIECE_ELSE, PIECE_END };

struct piece {
	enum piece_kind kind;
	enum value value;
	char *text; /* of PIECE_TEXT; the label of PIECE_VALUE, or NULL */
};

struct template
{
	struct piece *pieces;
	size_t count;
};

static const struct {
	const char *name;
	bool one_line; /* may stand in a subject */
	bool link;
} values[VALUE_COUNT] = {
	[VALUE_SHOP] = { "shop", true, false },
	[VALUE_FIRST_NAME] = { "first name", true, false },
	[VALUE_ITEMS] = { "items", false, false },
	[VALUE_ITEM_COUNT] = { "item count", true, false },
	[VALUE_TOTAL] = { "total", true, false },
	[VALUE_DISCOUNT_CODE] = { "discount code", true, false },
	[VALUE_RETURN_LINK] = { "return link", false, true },
	[VALUE_UNSUBSCRIBE_LINK] = { "unsubscribe link", false, true },
	[VALUE_POSTAL_ADDRESS] = { "postal address", false, false },
};

static const char *const values_known = "{shop}, {first name}, {items}, {item count}, {total}, {discount code}, "
					"{return link}, {unsubscribe link}, {postal address}";

struct parser {
	const char *at;
	struct template_place place; /* of `at` */
	struct template *template;
	struct voice_error *error;
	enum piece_kind open; /* PIECE_IF or PIECE_ELSE while inside a condition, else PIECE_END */
	struct template_place opened;
};

const char *value_name(enum value value)
{
	return values[value].name;
}

__attribute__((format(printf, 3, 4))) static int refuse(
	struct parser *parser, struct template_place place, const char *format, ...)
{
	char words[200];
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

static void add_piece(struct parser *parser, struct piece piece)
{
	struct template *template = parser->template;
	template->pieces = memory_resize(template->pieces, (template->count + 1) * sizeof(piece));
	template->pieces[template->count++] = piece;
}

static void add_text(struct parser *parser, const char *from, size_t len)
{
	if (len)
		add_piece(parser, (struct piece){ .kind = PIECE_TEXT, .text = memory_copy(BYTES(from, len)) });
}

/* Word processors turn quotes into typographic ones; all of these open and close a label. Returns their length, 0: no quote. */
static size_t quote_length(const char *at)
{
	static const char *const quotes[] = { "\"", "\u201c", "\u201d", "\u201e" };
	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++)
		if (strncmp(at, quotes[i], strlen(quotes[i])) == 0)
			return strlen(quotes[i]);
	return 0;
}

/* What stands between the braces, taken apart: `name`, and a quoted label with or without "or" before it. */
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

/* Lower case, one blank between words. */
static int read_name(struct parser *parser, const char *at, const char *end, struct inside *ret)
{
	size_t len = 0;
	for (; at < end && !quote_length(at); at++) {
		bool blank = isspace((unsigned char)*at);
		if (blank && (len == 0 || ret->name[len - 1] == ' '))
			continue;
		if (len + 1 >= sizeof(ret->name))
			return refuse(parser, parser->place, "expected one of %s", values_known);
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

static int find_value(struct parser *parser, const char *name, enum value *ret)
{
	for (int i = 0; i < VALUE_COUNT; i++) {
		if (strcasecmp(values[i].name, name) != 0)
			continue;
		*ret = (enum value)i;
		return 0;
	}
	return refuse(parser, parser->place, "unknown {%s}; expected one of %s", name, values_known);
}

static int add_condition(struct parser *parser, const char *name)
{
	struct piece piece = { .kind = PIECE_IF };
	if (parser->open != PIECE_END)
		return refuse(
			parser, parser->place, "an {if} inside another one is not possible: expected {end} before it");
	int r = find_value(parser, name, &piece.value);
	if (r < 0)
		return r;
	parser->open = PIECE_IF;
	parser->opened = parser->place;
	add_piece(parser, piece);
	return 0;
}

static int add_value(struct parser *parser, struct inside *inside)
{
	struct piece piece = { .kind = PIECE_VALUE };
	int r = find_value(parser, inside->name, &piece.value);
	if (r < 0)
		return r;
	if (parser->place.one_line && !values[piece.value].one_line)
		return refuse(parser, parser->place, "{%s} can only stand in a Body or Footer", inside->name);
	if (inside->label && values[piece.value].link == inside->has_or)
		return refuse(parser, parser->place,
			inside->has_or ? "a link always exists: expected {%s \"words\"} without \"or\""
				       : "expected {%s or \"words\"}",
			inside->name);
	piece.text = TAKE(inside->label);
	add_piece(parser, piece);
	return 0;
}

static int add_inside(struct parser *parser, struct inside *inside)
{
	if (strncmp(inside->name, "if ", 3) == 0 && !inside->label)
		return add_condition(parser, inside->name + 3);
	if (strcmp(inside->name, "else") == 0) {
		if (parser->open != PIECE_IF)
			return refuse(parser, parser->place, "{else} without an {if} before it");
		parser->open = PIECE_ELSE;
		add_piece(parser, (struct piece){ .kind = PIECE_ELSE });
		return 0;
	}
	if (strcmp(inside->name, "end") == 0) {
		if (parser->open == PIECE_END)
			return refuse(parser, parser->place, "{end} without an {if} before it");
		parser->open = PIECE_END;
		add_piece(parser, (struct piece){ .kind = PIECE_END });
		return 0;
	}
	return add_value(parser, inside);
}

static int parse_brace(struct parser *parser)
{
	_cleanup_(inside_free) struct inside inside = { 0 };
	const char *end = parser->at + strcspn(parser->at, "}\n");
	if (*end != '}')
		return refuse(parser, parser->place, "a { is not closed with } on its line (write {{ for a plain {)");
	int r = read_name(parser, parser->at + 1, end, &inside);
	if (r == 0)
		r = add_inside(parser, &inside);
	if (r == 0)
		step_over(parser, end + 1);
	return r;
}

static int parse_pieces(struct parser *parser)
{
	while (*parser->at) {
		const char *brace = parser->at + strcspn(parser->at, "{}");
		bool doubled = *brace && brace[1] == *brace;
		add_text(parser, parser->at, (size_t)(brace - parser->at) + (doubled ? 1 : 0));
		step_over(parser, brace);
		if (doubled) {
			step_over(parser, brace + 2);
			continue;
		}
		if (*brace == '}')
			return refuse(parser, parser->place, "a } without { before it (write }} for a plain })");
		int r = *brace ? parse_brace(parser) : 0;
		if (r < 0)
			return r;
	}
	if (parser->open != PIECE_END)
		return refuse(parser, parser->opened, "this {if} has no {end}");
	return 0;
}

int template_parse(const char *text, struct template_place place, struct template **ret, struct voice_error *ret_error)
{
	struct parser parser = { .at = text,
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

void template_free(struct template *template)
{
	if (!template)
		return;
	for (size_t i = 0; i < template->count; i++)
		free(template->pieces[i].text);
	free(template->pieces);
	free(template);
}

bool template_uses(const struct template *template, enum value value)
{
	for (size_t i = 0; i < template->count; i++)
		if (template->pieces[i].kind == PIECE_VALUE && template->pieces[i].value == value)
			return true;
	return false;
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
		case PIECE_VALUE:
			if (shown)
				sink->value(sink->context, piece->value, piece->text);
			break;
		}
	}
}
