/*
 * offer.c: proposes a sentence that would be accepted, in place of one that is refused
 *
 * Promises:  the proposal reads as a sentence, and differs from the owner's only in the one thing that was
 *            not exact. The owner has to confirm it: with "working days" the owner may mean Saturday too.
 * Read next: parse.c (which proposes a sentence without its third wait, or with a full stop), words/en.txt
 *            ("instead")
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/rules/text.h"
#include <stdio.h>
#include <string.h>

enum { OFFER_MAX = 160, CHANGES_MAX = 4 };

static const char *const ends[] = { "under", "over", "upto", "atleast", "atmost", NULL };

/* `text` replaces `source` in the sentence; if `source` has length 0, `text` is inserted there. */
struct change {
	struct bytes source;
	char text[80];
};

struct offer {
	const struct token *tokens;
	int count;
	const char *currency;
	struct items items; /* in the language that is being tried */
	struct change changes[CHANGES_MAX];
	int change_count;
};

static struct bytes sentence_of(const struct offer *offer)
{
	const char *start = offer->tokens[0].source.data;
	struct bytes last = offer->tokens[offer->count - 1].source;

	return BYTES(start, (size_t)((const char *)last.data + last.len - start));
}

static bool note_change(struct offer *offer, struct bytes source, const char *text)
{
	if (offer->change_count == CHANGES_MAX || !TEXT_COPY(offer->changes[offer->change_count].text, text))
		return false;
	offer->changes[offer->change_count++].source = source;
	return true;
}

/* Writes the sentence with all its changes, which are in the order of the text. */
static void rewrite(const struct offer *offer, struct buffer *ret)
{
	struct bytes whole = sentence_of(offer);
	const char *at = whole.data, *end = at + whole.len;

	for (int i = 0; i < offer->change_count; i++) {
		const char *from = offer->changes[i].source.data;
		buffer_add(ret, at, (size_t)(from - at));
		buffer_add_text(ret, offer->changes[i].text);
		at = from + offer->changes[i].source.len;
	}
	buffer_add(ret, at, (size_t)(end - at));
}

/* Does the changed sentence read? Then `ret` gets it. */
static bool would_do(const struct offer *offer, char *ret, size_t room)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };

	if (offer->change_count == 0)
		return false;
	rewrite(offer, &text);
	if (text.len > OFFER_MAX || !sentence_reads(buffer_text(&text), offer->currency))
		return false;
	struct bytes end = offer->tokens[offer->count].source; /* "." or "。" */
	snprintf(ret, room, "%s%.*s", buffer_text(&text), (int)end.len, (const char *)end.data);
	return true;
}

/* Does the item follow an "after"? Then "after the next day" would become "after after 24 hours". */
static bool follows_after(const struct items *items, int at)
{
	return at > 0 && item_is_any(&items->list[at - 1], (const char *const[]){ "after", "inwait", NULL });
}

/* Makes words exact, as in "Only on working days" and "Remind the next day". */
static bool offer_exact_words(struct offer *offer)
{
	for (int i = 0; i < offer->items.count; i++) {
		const struct item *item = &offer->items.list[i];
		if (item->instead &&
			(follows_after(&offer->items, i) || !note_change(offer, item->source, item->instead)))
			return false;
	}
	return offer->items.unknown == 0;
}

/* Is the item a number that limits a size, alone or as the second of a range? */
static bool is_end_of_size(const struct items *items, int at)
{
	const struct item *item = &items->list[at];
	bool is_second = at > 2 && item_is(item - 2, "num") &&
		item_is_any(item - 1, (const char *const[]){ "and", "to", "-", "until", NULL }) &&
		item_is_any(item - 3, (const char *const[]){ "between", "from", NULL });

	return item_is(item, "num") && !item->is_word &&
		(is_second || item_is_any(item + 1, ends) || (at > 0 && item_is_any(item - 1, ends)));
}

/* Adds the shop's own currency to "Carts under 40". */
static bool offer_currency(struct offer *offer)
{
	static const char *const carts[] = { "cart", "small", "medium", "big", NULL };
	char behind[8];

	if (!*offer->currency || offer->items.unknown || !items_have(&offer->items, offer->items.count, carts))
		return false;
	snprintf(behind, sizeof(behind), " %.3s", offer->currency);
	for (int i = 0; i < offer->items.count; i++) {
		struct bytes source = offer->items.list[i].source;
		struct bytes place = BYTES((const char *)source.data + source.len, 0);
		if (is_end_of_size(&offer->items, i) && !note_change(offer, place, behind))
			return false;
	}
	return true;
}

/* Mends misspelled words for sizes and limits, as in "Smal carts" and "undr $40". */
static bool offer_size_words(struct offer *offer, const struct language *language)
{
	char text[64];

	for (int i = 0; i < offer->items.count; i++) {
		const struct item *item = &offer->items.list[i];
		if (!item_is(item, "?"))
			continue;
		int at = 0;
		while (offer->tokens[at].source.data != item->source.data)
			at++;
		const struct token *token = &offer->tokens[at];
		const char *word = token->kind == TOKEN_WORD ? language_mend(language, token->word, MEND_OFFER) : NULL;
		if (!word || !TEXT_COPY(text, word))
			return false;
		if (token->upper && text[0] >= 'a' && text[0] <= 'z')
			text[0] = (char)(text[0] - 'a' + 'A');
		if (!note_change(offer, item->source, text))
			return false;
	}
	return true;
}

static bool note_hours(struct offer *offer, int at, int from, int to)
{
	char text[16];

	offer->change_count = 0;
	snprintf(text, sizeof(text), "%d:00", from);
	if (!note_change(offer, offer->items.list[at].source, text))
		return false;
	snprintf(text, sizeof(text), "%d:00", to);
	return note_change(offer, offer->items.list[at + 2].source, text);
}

/*
 * "No mail between 9 and 8" may mean the night or the day, so both are proposed. For "between 8 and 9"
 * nothing is proposed: each hour may be in the morning or in the evening.
 */
static bool offer_hours(struct offer *offer, const struct language *language, struct rules_error *ret)
{
	int at = 0;

	items_read(language, READ_CLOCK, offer->currency, offer->tokens, offer->count, &offer->items);
	while (at < offer->items.count && !is_pair_of_hours(&offer->items, at))
		at++;
	if (at == offer->items.count || offer->items.unknown || !looks_like_hours(&offer->items))
		return false;
	int from = (int)(offer->items.list[at].value / THOUSANDTHS);
	int to = (int)(offer->items.list[at + 2].value / THOUSANDTHS);
	if (to < 1 || from > 11 || from <= to)
		return false;
	return note_hours(offer, at, from + 12, to) && would_do(offer, ret->instead, sizeof(ret->instead)) &&
		note_hours(offer, at, from, to + 12) && would_do(offer, ret->or_instead, sizeof(ret->or_instead));
}

void offer_instead(const struct token *tokens, int count, const char *currency, struct rules_error *ret)
{
	_cleanup_free_ struct offer *offer = memory_new(sizeof(*offer));
	bool done = false;

	*offer = (struct offer){ .tokens = tokens, .count = count, .currency = currency };
	struct bytes sentence = sentence_of(offer);
	if (sentence.len > OFFER_MAX || memchr(sentence.data, '\n', sentence.len) ||
		memchr(sentence.data, '#', sentence.len))
		return;
	for (int i = 0; !done && i < languages_count(); i++) {
		const struct language *language = language_at(i);
		items_read(language, READ_WAITS, currency, tokens, count, &offer->items);
		offer->change_count = 0;
		done = offer_exact_words(offer) && would_do(offer, ret->instead, sizeof(ret->instead));
		offer->change_count = 0;
		done = done || (offer_currency(offer) && would_do(offer, ret->instead, sizeof(ret->instead)));
		offer->change_count = 0;
		done = done ||
			(offer_size_words(offer, language) && would_do(offer, ret->instead, sizeof(ret->instead)));
		done = done || offer_hours(offer, language, ret);
	}
}
