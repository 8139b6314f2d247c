/*
 * list.c: one page of the list of carts
 *
 * Promises:  it reads at most LIST_BUDGET rows of an index, and each one's line.
 */
#include "services/carts/console/list.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/keys/signed_token.h"
#include <errno.h>
#include <stdio.h>

static const char cursor_purpose[] = "cartbus carts page";

struct walk {
	const struct page_asked *asked;
	const struct list_filter *filter;
	char prefix[24];         /* of the index's keys */
	char last[LINE_KEY_MAX]; /* the last row that was looked at; at first the cursor's */
	struct cart_line last_line;
	int budget;
	bool more;
	json_t *items;
};

static bool by_amount(const struct list_filter *filter)
{
	return *filter->currency != '\0';
}

/* ---- the cursor ---- */

static uint64_t digest_of(const struct page_asked *asked, const struct list_filter *filter)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };

	buffer_printf(&text, "%s\n%d\n%s\n%lld\n%lld\n%lld\n%lld", asked->shop, (int)filter->word, filter->currency,
		(long long)filter->least_minor, (long long)filter->most_minor, (long long)filter->from_us,
		(long long)filter->to_us);
	return text_hash(buffer_bytes(&text));
}

static json_t *cursor_make(const struct walk *walk, struct bytes key)
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };
	char token[SIGNED_TOKEN_MAX + 1];

	buffer_add_be64(&fields, digest_of(walk->asked, walk->filter));
	signed_token_add_text(&fields, walk->last);
	return signed_token_make(key, cursor_purpose, buffer_bytes(&fields), token) ? json_null() : json_string(token);
}

static int cursor_read(struct walk *walk, struct bytes key, const char *cursor)
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };
	struct bytes rest;

	if (!*cursor)
		return 0;
	if (signed_token_read(key, cursor_purpose, cursor, &fields) || fields.len < sizeof(uint64_t) ||
		get_be64(fields.data) != digest_of(walk->asked, walk->filter))
		return -EBADMSG;
	rest = BYTES(fields.data + sizeof(uint64_t), fields.len - sizeof(uint64_t));
	if (signed_token_take_text(&rest, walk->last, sizeof(walk->last)) || rest.len ||
		!text_starts(walk->last, walk->prefix))
		return -EBADMSG;
	return 0;
}

/* ---- the walk ---- */

static bool matches(const struct list_filter *filter, const struct cart_line *line)
{
	if (filter->word != CART_WORDS && line->word != (uint32_t)filter->word)
		return false;
	if (line->left_us < filter->from_us || line->left_us >= filter->to_us)
		return false;
	return !by_amount(filter) ||
		(strcmp(line->currency, filter->currency) == 0 && line->total_minor >= filter->least_minor &&
			line->total_minor <= filter->most_minor);
}

/* No later row of the index can match. */
static bool is_beyond(const struct list_filter *filter, const struct cart_line *line)
{
	return by_amount(filter) ? line->total_minor < filter->least_minor : line->left_us < filter->from_us;
}

static bool step(const char *shop, const char *key, struct bytes value, void *context)
{
	struct walk *walk = context;
	const char *cart_id = strrchr(key, '/');
	struct cart_line line;

	(void)value;
	if (!cart_id || !text_starts(key, walk->prefix))
		return false;
	if (strcmp(key, walk->last) == 0)
		return true;
	if (walk->budget == 0 || json_array_size(walk->items) == LIST_ROWS) {
		walk->more = true;
		return false;
	}
	walk->budget--;
	TEXT_COPY(walk->last, key);
	if (!STATE_GET(walk->asked->state, cart_lines, shop, cart_id + 1, &line))
		return true; /* the log has forgotten it, and this row not yet */
	if (is_beyond(walk->filter, &line))
		return false;
	walk->last_line = line;
	if (matches(walk->filter, &line))
		json_array_append_new(walk->items, show_line(walk->asked, cart_id + 1, &line));
	return true;
}

/* Where the index begins for this filter: behind all larger amounts, or all newer carts. */
static void begin(struct walk *walk, char ret_from[LINE_KEY_MAX])
{
	const struct list_filter *filter = walk->filter;
	int64_t most = by_amount(filter) ? filter->most_minor : filter->to_us;
	char inverted[LINE_INVERTED_ROOM];

	if (by_amount(filter))
		snprintf(walk->prefix, sizeof(walk->prefix), "%s/", filter->currency);
	else if (filter->word != CART_WORDS)
		snprintf(walk->prefix, sizeof(walk->prefix), "%s/", cart_word_text(filter->word));
	snprintf(ret_from, LINE_KEY_MAX, "%s%s", walk->prefix, line_inverted(most, inverted));
}

static void run(struct walk *walk, const char *from)
{
	const struct page_asked *asked = walk->asked;

	if (by_amount(walk->filter))
		STATE_EACH_FROM(asked->state, lines_by_amount, asked->shop, from, step, walk);
	else if (walk->filter->word != CART_WORDS)
		STATE_EACH_FROM(asked->state, lines_by_word, asked->shop, from, step, walk);
	else
		STATE_EACH_FROM(asked->state, lines_by_left, asked->shop, from, step, walk);
}

int list_carts(const struct page_asked *asked, const struct list_filter *filter, struct bytes key, const char *cursor,
	json_t *ret)
{
	struct walk walk = { .asked = asked, .filter = filter, .budget = LIST_BUDGET };
	char from[LINE_KEY_MAX];
	bool searched;

	begin(&walk, from);
	if (cursor_read(&walk, key, cursor))
		return -EBADMSG;
	walk.items = json_array();
	run(&walk, *walk.last ? walk.last : from);
	searched = walk.more && json_array_size(walk.items) < LIST_ROWS;
	json_object_set_new(ret, "items", walk.items);
	json_object_set_new(ret, "next", walk.more ? cursor_make(&walk, key) : json_null());
	json_object_set_new(ret, "searched_to_us",
		searched && !by_amount(filter) ? show_time(walk.last_line.left_us) : json_null());
	json_object_set_new(ret, "searched_to_minor",
		searched && by_amount(filter) ? json_integer((json_int_t)walk.last_line.total_minor) : json_null());
	return 0;
}
