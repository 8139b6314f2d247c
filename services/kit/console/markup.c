/*
 * markup.c: walks the table of a page, with its data, for one reader
 *
 * Promises:  a value never leaves its place, whatever it is; the live texts are those of the page, because both come from the same walk.
 * Fails by:  showing nothing where the data has another type than the page declares.
 * Read next: escape.h, format.h, chart.h, markup_to_c.py (makes the tables)
 */
#include "services/kit/console/markup.h"
#include "bus/base/cleanup.h"
#include "services/kit/console/chart.h"
#include "services/kit/console/escape.h"
#include "services/kit/console/format.h"
#include "services/kit/money/money.h"
#include <inttypes.h>
#include <stdio.h>

/* A row of a list that is being gone through. */
struct scope {
	const json_t *row;
	struct buffer prefix; /* of the keys of its live values: "LIST/ROWKEY/" */
};

struct walk {
	const struct markup *markup;
	const struct markup_reader *reader;
	const struct markup *page; /* of a layout: what its {{content}} is */
	const json_t *page_data;
	struct scope scopes[MARKUP_LISTS_MAX + 1];
	size_t depth;
	struct buffer *out;    /* NULL: only live values are wanted */
	json_t *live;          /* NULL: only HTML is wanted */
	struct buffer scratch; /* one value, before it is escaped */
	int forms;
};

static void walk_ops(struct walk *walk, size_t from, size_t to);

static struct format_reader formats_of(const struct walk *walk)
{
	return (struct format_reader){ walk->reader->locale, walk->reader->zone, walk->reader->now_us };
}

/* --- data --- */

static const json_t *find(const struct walk *walk, size_t level, const char *const *path)
{
	const json_t *value = level <= walk->depth ? walk->scopes[level].row : NULL;

	for (; value && *path; path++)
		value = json_object_get(value, *path);
	return value;
}

static bool is_true(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return json_object_size(value) > 0;
	case JSON_ARRAY:
		return json_array_size(value) > 0;
	case JSON_STRING:
		return json_string_length(value) > 0;
	case JSON_INTEGER:
		return json_integer_value(value) != 0;
	case JSON_REAL:
		return json_real_value(value) != 0;
	case JSON_TRUE:
		return true;
	case JSON_FALSE:
	case JSON_NULL:
		break;
	}
	return false;
}

static struct bytes text_of(const json_t *value)
{
	return json_is_string(value) ? BYTES(json_string_value(value), json_string_length(value)) : BYTES("", 0);
}

/* false: it is no number that fits. */
static bool integer_of(const json_t *value, int64_t *ret)
{
	double real = json_number_value(value);

	*ret = json_is_integer(value) ? json_integer_value(value) : 0;
	if (json_is_real(value) && real > -9e18 && real < 9e18)
		*ret = (int64_t)real;
	else if (!json_is_integer(value))
		return false;
	return true;
}

/* --- values as plain text --- */

static void show_number(const struct walk *walk, const json_t *value, bool plain, char ret[FORMAT_ROOM])
{
	if (json_is_integer(value) && plain)
		snprintf(ret, FORMAT_ROOM, "%" PRId64, (int64_t)json_integer_value(value));
	else if (json_is_integer(value))
		locale_integer(json_integer_value(value), walk->reader->locale, ret, FORMAT_ROOM);
	else if (plain)
		snprintf(ret, FORMAT_ROOM, "%.15g", json_real_value(value));
	else
		locale_decimal(json_real_value(value), walk->reader->locale, ret, FORMAT_ROOM);
}

static void show_money(const struct walk *walk, const struct markup_op *op, int64_t minor, char ret[FORMAT_ROOM])
{
	const char *currency = json_string_value(find(walk, op->argument_level, op->argument));

	if (currency)
		money_format(minor, currency, walk->reader->locale, ret, FORMAT_ROOM);
}

static void show_integer(const struct walk *walk, const struct markup_op *op, int64_t number, char ret[FORMAT_ROOM])
{
	const struct format_reader reader = formats_of(walk);

	switch (op->filter) {
	case MARKUP_AS_TIME:
		format_time(&reader, number, ret);
		return;
	case MARKUP_AS_CLOCK:
		format_clock(&reader, number, ret);
		return;
	case MARKUP_AS_DAY:
		format_day(&reader, number, ret);
		return;
	case MARKUP_AS_AGO:
		format_ago(&reader, number, ret);
		return;
	case MARKUP_AS_SPAN:
		locale_span(number, reader.locale, ret, FORMAT_ROOM);
		return;
	case MARKUP_AS_BYTES:
		locale_bytes(number, reader.locale, ret, FORMAT_ROOM);
		return;
	case MARKUP_AS_MONEY:
		show_money(walk, op, number, ret);
		return;
	case MARKUP_AS_IS:
	case MARKUP_AS_PERCENT:
	case MARKUP_AS_PLAIN:
		return; /* of show() */
	}
}

/* Into the scratch buffer. */
static void show(struct walk *walk, const struct markup_op *op, const json_t *value)
{
	const struct format_reader reader = formats_of(walk);
	bool digits = op->filter == MARKUP_AS_PLAIN || op->place >= MARKUP_IN_MACHINE;
	char shown[FORMAT_ROOM] = "";
	int64_t number;

	buffer_clear(&walk->scratch);
	if (json_is_string(value) && op->filter == MARKUP_AS_IS) {
		buffer_add(&walk->scratch, json_string_value(value), json_string_length(value));
		return;
	}
	if (json_is_string(value) && op->filter == MARKUP_AS_DAY)
		format_date(&reader, json_string_value(value), LOCALE_DAY, shown);
	else if (json_is_number(value) && (op->filter == MARKUP_AS_IS || op->filter == MARKUP_AS_PLAIN))
		show_number(walk, value, digits, shown);
	else if (json_is_number(value) && op->filter == MARKUP_AS_PERCENT)
		locale_percent(json_number_value(value), reader.locale, shown, FORMAT_ROOM);
	else if (integer_of(value, &number))
		show_integer(walk, op, number, shown);
	buffer_add_text(&walk->scratch, shown);
}

/* --- values in their place --- */

static bool is_moment(const struct markup_op *op, const json_t *value)
{
	return op->place == MARKUP_IN_TEXT && op->filter >= MARKUP_AS_TIME && op->filter <= MARKUP_AS_AGO &&
		json_is_integer(value) && op->code != MARKUP_LIVE;
}

/* An empty segment would make a path end early, and "//" at its beginning would make the next segment a host. */
static void add_component(struct walk *walk, struct bytes text)
{
	bool is_segment = walk->out->len > 0 && walk->out->data[walk->out->len - 1] == '/';

	escape_component(is_segment && text.len == 0 ? bytes_of(".") : text, walk->out);
}

static void add_escaped(struct walk *walk, const struct markup_op *op)
{
	struct bytes text = buffer_bytes(&walk->scratch);

	switch (op->place) {
	case MARKUP_IN_TEXT:
	case MARKUP_IN_PLAIN:
	case MARKUP_IN_ATTRIBUTE:
	case MARKUP_IN_MACHINE:
		escape_html(text, walk->out);
		return;
	case MARKUP_IN_URL:
		escape_address(text, walk->reader->prefix, walk->out);
		return;
	case MARKUP_IN_COMPONENT:
		add_component(walk, text);
		return;
	case MARKUP_RAW:
		buffer_add(walk->out, text.data, text.len);
		return;
	}
}

static void add_value(struct walk *walk, const struct markup_op *op)
{
	const json_t *value = find(walk, op->level, op->path);
	char iso[FORMAT_ROOM];
	int64_t us;

	show(walk, op, value);
	if (!is_moment(op, value) || !integer_of(value, &us)) {
		add_escaped(walk, op);
		return;
	}
	format_iso(us, iso);
	buffer_printf(walk->out, "<time datetime=\"%s\">", iso);
	add_escaped(walk, op);
	buffer_add_text(walk->out, "</time>");
}

static void add_live(struct walk *walk, const struct markup_op *op)
{
	_cleanup_(buffer_free) struct buffer key = { 0 }, text = { 0 };
	struct bytes prefix = buffer_bytes(&walk->scopes[op->level].prefix);

	buffer_add(&key, prefix.data, prefix.len);
	buffer_add(&key, op->text, op->size);
	show(walk, op, find(walk, op->level, op->path));
	if (walk->live) {
		escape_nothing(buffer_bytes(&walk->scratch), &text);
		json_object_set_new(walk->live, buffer_text(&key), json_stringn(buffer_text(&text), text.len));
		return;
	}
	buffer_add_text(walk->out, "<span data-live=\"");
	escape_html(buffer_bytes(&key), walk->out);
	buffer_add_text(walk->out, "\">");
	add_escaped(walk, op);
	buffer_add_text(walk->out, "</span>");
}

/* --- sections --- */

static void name_row(struct walk *walk, const struct markup_op *op, struct scope *scope)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct bytes prefix = buffer_bytes(&walk->scopes[op->level].prefix);
	const json_t *name = op->argument ? find(walk, op->argument_level, op->argument) : NULL;

	buffer_clear(&scope->prefix);
	if (!name)
		return;
	if (json_is_string(name))
		escape_nothing(text_of(name), &key);
	else if (json_is_integer(name))
		buffer_printf(&key, "%" PRId64, (int64_t)json_integer_value(name));
	buffer_add(&scope->prefix, prefix.data, prefix.len);
	buffer_printf(&scope->prefix, "%s/%s/", op->text, buffer_text(&key));
}

static void walk_each(struct walk *walk, const struct markup_op *op, size_t at)
{
	const json_t *list = find(walk, op->level, op->path);
	struct scope *scope = &walk->scopes[walk->depth + 1];

	if (json_array_size(list) == 0 || walk->depth >= MARKUP_LISTS_MAX) {
		walk_ops(walk, op->middle, op->end);
		return;
	}
	walk->depth++;
	for (size_t i = 0; i < json_array_size(list); i++) {
		scope->row = json_array_get(list, i);
		name_row(walk, op, scope);
		walk_ops(walk, at + 1, op->middle);
	}
	buffer_free(&scope->prefix);
	walk->depth--;
}

static void walk_if(struct walk *walk, const struct markup_op *op, size_t at)
{
	const json_t *value = find(walk, op->level, op->path);
	bool is = op->text ? json_is_string(value) && bytes_equal(text_of(value), BYTES(op->text, op->size))
			   : value && is_true(value);

	if (is != op->negated)
		walk_ops(walk, at + 1, op->middle);
	else
		walk_ops(walk, op->middle, op->end);
}

/* --- texts for people --- */

/* The place of the case of this name among those from `at` to `end`; `end`: there is none. */
static size_t case_of(const struct walk *walk, size_t at, size_t end, struct bytes name)
{
	for (; at < end; at = walk->markup->ops[at].end)
		if (bytes_equal(BYTES(walk->markup->ops[at].text, walk->markup->ops[at].size), name))
			break;
	return at;
}

static void walk_case(struct walk *walk, size_t at)
{
	walk_ops(walk, at + 1, walk->markup->ops[at].end);
}

static void walk_words(struct walk *walk, const struct markup_op *op, size_t at)
{
	size_t found = case_of(walk, at + 1, op->end, bytes_of(walk->reader->language));

	walk_case(walk, found < op->end ? found : at + 1); /* English comes first */
}

static void walk_choice(
	struct walk *walk, const struct markup_op *op, size_t at, struct bytes first, struct bytes second)
{
	size_t found = case_of(walk, at + 1, op->end, first);

	if (found == op->end)
		found = case_of(walk, at + 1, op->end, second);
	if (found == op->end)
		found = case_of(walk, at + 1, op->end, bytes_of("other"));
	walk_case(walk, found);
}

static void walk_plural(struct walk *walk, const struct markup_op *op, size_t at)
{
	const json_t *value = find(walk, op->level, op->path);
	int64_t number = 0;
	char exactly[24];

	integer_of(value, &number);
	uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;
	snprintf(exactly, sizeof(exactly), "=%" PRId64, number);
	walk_choice(walk, op, at, bytes_of(exactly), bytes_of(locale_plural(size, walk->reader->language)));
}

static void walk_select(struct walk *walk, const struct markup_op *op, size_t at)
{
	struct bytes value = text_of(find(walk, op->level, op->path));

	walk_choice(walk, op, at, value, value);
}

/* --- what a page has besides values --- */

static void add_asset(struct walk *walk, const struct markup_op *op)
{
	const struct markup_reader *reader = walk->reader;
	const char *path = reader->asset ? reader->asset(op->text, reader->context) : NULL;

	escape_address(bytes_of(path ? path : ""), reader->prefix, walk->out);
}

static void add_form(struct walk *walk)
{
	buffer_add_text(walk->out, "<input type=\"hidden\" name=\"t\" value=\"");
	escape_html(bytes_of(walk->reader->token), walk->out);
	buffer_add_text(walk->out, "\"><input type=\"hidden\" name=\"once\" value=\"");
	escape_html(bytes_of(walk->reader->once), walk->out);
	buffer_printf(walk->out, "-%d\">", ++walk->forms);
}

static void add_content(struct walk *walk)
{
	struct walk page = { .markup = walk->page,
		.reader = walk->reader,
		.scopes[0].row = walk->page_data,
		.out = walk->out,
		.forms = walk->forms };

	if (!walk->page)
		return;
	walk_ops(&page, 0, page.markup->count);
	walk->forms = page.forms;
	buffer_free(&page.scratch);
}

static void add_chart(struct walk *walk, const struct markup_op *op, size_t at)
{
	struct buffer texts[CHART_SERIES_MAX + 1] = { { 0 } }, *out = walk->out;
	struct chart_reader reader = { .format = formats_of(walk), .language = walk->reader->language, .title = "" };
	const json_t *chart = find(walk, op->level, op->path);
	size_t count = 0;

	for (size_t i = at + 1; i < op->end && count <= CHART_SERIES_MAX; i = walk->markup->ops[i].end, count++) {
		walk->out = &texts[count];
		walk_words(walk, &walk->markup->ops[i], i);
	}
	walk->out = out;
	if (count > 0)
		reader.title = buffer_text(&texts[0]);
	for (size_t i = 1; i < count; i++)
		reader.names[i - 1] = buffer_text(&texts[i]);
	if (op->code == MARKUP_BARS)
		chart_bars(chart, &reader, out);
	else
		chart_spark(chart, &reader, out);
	for (size_t i = 0; i < count; i++)
		buffer_free(&texts[i]);
}

/* --- the walk --- */

static void walk_section(struct walk *walk, const struct markup_op *op, size_t at)
{
	if (op->code == MARKUP_EACH)
		walk_each(walk, op, at);
	else
		walk_if(walk, op, at);
}

static void write_op(struct walk *walk, const struct markup_op *op, size_t at)
{
	switch (op->code) {
	case MARKUP_TEXT:
		buffer_add(walk->out, op->text, op->size);
		return;
	case MARKUP_VALUE:
		add_value(walk, op);
		return;
	case MARKUP_WORDS:
		walk_words(walk, op, at);
		return;
	case MARKUP_PLURAL:
		walk_plural(walk, op, at);
		return;
	case MARKUP_SELECT:
		walk_select(walk, op, at);
		return;
	case MARKUP_PREFIX:
		escape_html(bytes_of(walk->reader->prefix), walk->out);
		return;
	case MARKUP_ASSET:
		add_asset(walk, op);
		return;
	case MARKUP_CONTENT:
		add_content(walk);
		return;
	case MARKUP_FORM:
		add_form(walk);
		return;
	case MARKUP_BARS:
	case MARKUP_SPARK:
		add_chart(walk, op, at);
		return;
	case MARKUP_EACH:
	case MARKUP_IF:
	case MARKUP_LIVE:
	case MARKUP_CASE:
		return; /* of walk_ops and walk_choice */
	}
}

static void walk_ops(struct walk *walk, size_t from, size_t to)
{
	for (size_t at = from; at < to;) {
		const struct markup_op *op = &walk->markup->ops[at];

		if (op->code == MARKUP_EACH || op->code == MARKUP_IF)
			walk_section(walk, op, at);
		else if (op->code == MARKUP_LIVE)
			add_live(walk, op);
		else if (walk->out)
			write_op(walk, op, at);
		at = op->end > at ? op->end : at + 1;
	}
}

void markup_html(const struct markup *layout, const json_t *frame, const struct markup *page, const json_t *data,
	const struct markup_reader *reader, struct buffer *ret)
{
	struct walk walk = { .markup = layout ? layout : page,
		.reader = reader,
		.page = layout ? page : NULL,
		.page_data = data,
		.scopes[0].row = layout ? frame : data,
		.out = ret };

	walk_ops(&walk, 0, walk.markup->count);
	buffer_free(&walk.scratch);
}

json_t *markup_live(const struct markup *page, const json_t *data, const struct markup_reader *reader)
{
	struct walk walk = { .markup = page, .reader = reader, .scopes[0].row = data, .live = json_object() };

	walk_ops(&walk, 0, page->count);
	buffer_free(&walk.scratch);
	return walk.live;
}
