/*
 * parse.c: reads the owner's rules sentence by sentence, in any of the languages
 *
 * Owns:      the choice of the language and the kind of a sentence, and the mending of misspelled words.
 * Promises:  a text has exactly one meaning, or it is refused with the first place where it has not; nothing
 *            is skipped. If two languages, or two kinds of sentence, read it differently, it is refused.
 * Fails by:  -EINVAL and a struct rules_error with the line, the column and the text that was expected.
 * Read next: grammar.md, split.c, items.c, size.c, hours.c, often.c, check.c (checks of the whole text)
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/rules/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLE_MAX = 160, EXAMPLE_TRIES = 12 };

/* One sentence while it is read: its tokens, and the results of reading it. */
struct attempt {
	const char *currency; /* the shop's */
	const struct token *tokens;
	int count;
	struct items items; /* of the last reading */
	struct sentence found;
	bool is_found, is_unclear;
	struct rules_error error; /* of the best reading (keep_error()) */
	int least_unknown;
	enum kind kind; /* of the error */
	bool is_guessed;
	const struct language *reading, *language; /* the current one; that of the error */
};

static int (*const readers[KINDS])(struct reader *) = {
	[KIND_SIZES] = read_sizes, [KIND_OFTEN] = read_often, [KIND_RATES] = read_rates, [KIND_HOURS] = read_hours
};

/* --- do two readings mean the same? --- */

static bool same_bounds(const struct bounds *a, const struct bounds *b)
{
	if (a->count != b->count)
		return false;
	for (int i = 0; i < a->count; i++)
		if (strcmp(a->list[i].currency, b->list[i].currency) != 0 || a->list[i].minor != b->list[i].minor)
			return false;
	return true;
}

static bool same_clause(const struct clause *a, const struct clause *b)
{
	return a->who == b->who && (a->who != WHO_NAMED || a->size == b->size) && a->is_middle == b->is_middle &&
		same_bounds(&a->low, &b->low) && same_bounds(&a->high, &b->high) && a->waits.mails == b->waits.mails &&
		a->waits.first_us == b->waits.first_us && a->waits.second_us == b->waits.second_us;
}

static bool same_meaning(const struct sentence *a, const struct sentence *b)
{
	bool same = a->kind == b->kind && a->clause_count == b->clause_count && a->quiet_count == b->quiet_count &&
		a->rate_count == b->rate_count && a->cap.mails == b->cap.mails &&
		a->cap.period_us == b->cap.period_us && memcmp(a->quiets, b->quiets, sizeof(a->quiets)) == 0 &&
		memcmp(a->rates, b->rates, sizeof(a->rates)) == 0;

	for (int i = 0; same && i < a->clause_count; i++)
		same = same_clause(&a->clauses[i], &b->clauses[i]);
	return same;
}

/* --- one sentence --- */

static bool is_further(const struct rules_error *a, const struct rules_error *b)
{
	return a->line > b->line || (a->line == b->line && a->column > b->column);
}

static bool has(const struct items *items, const char *const *concepts)
{
	return items_have(items, items->count, concepts);
}

/* Guesses the kind of the sentence, so that the error fits that kind. false: it looks like no kind. */
static bool guess(const struct items *items, enum kind *ret)
{
	static const char *const sizes[] = { "cart", "small", "medium", "big", "rest", NULL };
	static const char *const often[] = { "atmost", "atleast", "nobody", NULL };
	static const char *const hours[] = { "quiet", "am", "pm", "night", "noon", "midnight", "clock", "dow",
		"weekend", NULL };

	static const char *const days[] = { "dow", "weekend", "weekdays", NULL }, *const only[] = { "only", NULL };
	const struct item *first = &items->list[0];
	bool counts = items->count > 1 && (item_is(first, "one") || item_is(first, "num")) &&
		item_is(first + 1, "mail") && has(items, (const char *const[]){ "per", NULL });

	*ret = (item_is(first, "atmost") && !item_is(first, "only")) || counts ? KIND_OFTEN : KIND_SIZES;
	if (*ret == KIND_OFTEN || has(items, sizes))
		return true;
	if (item_is(first, "amount") || item_is(first, "count"))
		*ret = KIND_RATES;
	else if (looks_like_hours(items))
		*ret = KIND_HOURS;
	else if (has(items, days) && has(items, only))
		*ret = KIND_HOURS;
	else if (has(items, often))
		*ret = KIND_OFTEN;
	else if (has(items, hours))
		*ret = KIND_HOURS;
	else
		return has(items, (const char *const[]){ "span", "remind", NULL });
	return true;
}

/*
 * Keeps the best error: that of the language that knows most of the words. Within that language the error of
 * the kind that the sentence looks like wins, and then the error furthest into the sentence.
 */
static void keep_error(struct attempt *attempt, enum kind kind, const struct rules_error *error, enum kind looks_like)
{
	bool knows_more = attempt->items.unknown < attempt->least_unknown;
	bool fits = kind == looks_like, fitted = attempt->kind == looks_like && attempt->error.line;

	if (!error->line || attempt->items.unknown > attempt->least_unknown)
		return;
	if (!knows_more && (fitted != fits ? fitted : !is_further(error, &attempt->error)))
		return;
	attempt->least_unknown = attempt->items.unknown;
	attempt->error = *error;
	attempt->kind = kind;
	attempt->language = attempt->reading;
}

static void read_kind(struct attempt *attempt, enum kind kind, enum kind looks_like)
{
	struct sentence sentence = { .kind = kind, .place = attempt->tokens[0].place };
	struct rules_error error = { 0 };
	struct reader reader = { .items = &attempt->items, .sentence = &sentence, .error = &error, .furthest = -1 };

	if (readers[kind](&reader) < 0) {
		keep_error(attempt, kind, &error, looks_like);
		return;
	}
	if (attempt->items.unknown)
		return;
	attempt->is_unclear |= attempt->is_found && !same_meaning(&attempt->found, &sentence);
	attempt->found = sentence;
	attempt->is_found = true;
}

static void read_in(struct attempt *attempt, const struct language *language)
{
	attempt->reading = language;
	items_read(language, READ_WAITS, attempt->currency, attempt->tokens, attempt->count, &attempt->items);
	if (attempt->items.unknown > attempt->least_unknown)
		return;
	enum kind like;
	attempt->is_guessed |= guess(&attempt->items, &like);
	read_kind(attempt, KIND_SIZES, like);
	read_kind(attempt, KIND_OFTEN, like);
	read_kind(attempt, KIND_RATES, like);
	items_read(language, READ_CLOCK, attempt->currency, attempt->tokens, attempt->count, &attempt->items);
	read_kind(attempt, KIND_HOURS, like);
}

/* The reason why this item is refused in every sentence; NULL: it is not. */
static const char *reason_of(const struct item *item)
{
	static const struct {
		const char *concept, *words;
	} reasons[] = { { "!discount", "no discount: reminders promise none; shoppers would learn to wait for it" },
		{ "!holiday", "days of the week: which days are public holidays is not known here" },
		{ "!when", "a sentence without conditions; say each case in a sentence of its own" },
		{ "!once", "days of every week, as Sunday: one week alone cannot be said" },
		{ "!vague", "an exact time or day, as 24 hours or Monday to Friday" },
		{ "!which", "all carts, or carts by their amount: no other carts can be told from the rest here" },
		{ "!nots", "one \"no\" in a sentence" },
		{ "third", "one or two reminders: two mails are the whole budget" } };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (item_is(item, reasons[i].concept))
			return reasons[i].words;
	return NULL;
}

static bool find_reason(struct attempt *attempt)
{
	char word[48];

	for (int i = 0; i < languages_count(); i++) {
		items_read(language_at(i), READ_WAITS, attempt->currency, attempt->tokens, attempt->count,
			&attempt->items);
		for (int j = 0; attempt->items.unknown <= attempt->least_unknown && j < attempt->items.count; j++) {
			const struct item *item = &attempt->items.list[j];
			if (!reason_of(item))
				continue;
			text_copy_bytes(word, sizeof(word), item->source);
			rules_refuse(&attempt->error, item->place, "%s; found \"%s\"", reason_of(item), word);
			return true;
		}
	}
	return false;
}

static void read_in_all(struct attempt *attempt)
{
	attempt->is_found = attempt->is_unclear = false;
	attempt->least_unknown = ITEMS_MAX;
	attempt->is_guessed = false;
	attempt->error = (struct rules_error){ 0 };
	for (int i = 0; i < languages_count(); i++)
		read_in(attempt, language_at(i));
	if (attempt->is_unclear) {
		attempt->is_found = false;
		rules_refuse(&attempt->error, attempt->tokens[0].place,
			"a sentence that means one thing: this one can be read in two ways");
	}
}

/* --- slips of the pen --- */

static bool is_whom(const struct item *item)
{
	return item_is(item, "cart") || item_is(item, "shopper");
}

static enum mend_place mend_place_of(const struct items *items, int at)
{
	if (is_whom(&items->list[at + 1]) || (at > 0 && is_whom(&items->list[at - 1])))
		return MEND_WHOM;
	return at > 0 ? MEND_INSIDE : MEND_FIRST;
}

/*
 * Mends in `ret` each word that the language does not know. `ret_count`: how many. false: none, or not all.
 */
static bool mend_in(const struct attempt *attempt, const struct language *language, struct token *ret, int *ret_count)
{
	struct items *items = memory_new(sizeof(*items));
	bool mended = true;

	*ret_count = 0;
	items_read(language, READ_WAITS, attempt->currency, attempt->tokens, attempt->count, items);
	for (int i = 0; mended && i < items->count; i++) {
		if (!item_is(&items->list[i], "?"))
			continue;
		int at = 0;
		while (attempt->tokens[at].source.data != items->list[i].source.data)
			at++;
		const char *word = ret[at].kind == TOKEN_WORD
			? language_mend(language, ret[at].word, mend_place_of(items, i))
			: NULL;
		mended = word != NULL;
		if (word)
			TEXT_COPY(ret[at].word, word), (*ret_count)++;
	}
	free(items);
	return mended && *ret_count > 0;
}

static void warn_of_slips(
	struct attempt *attempt, const struct token *as_written, const struct token *mended, struct whole *whole)
{
	char word[40];

	for (int i = 0; i < attempt->count; i++) {
		if (strcmp(as_written[i].word, mended[i].word) == 0)
			continue;
		text_copy_bytes(word, sizeof(word), as_written[i].source);
		whole_warn(whole, as_written[i].place, "\"%s\" is read as \"%s\"", word, mended[i].word);
	}
}

/* Reads a sentence of which no language knows all words: a language has to read it with mended words. */
static bool read_mended(struct attempt *attempt, struct whole *whole)
{
	const struct token *as_written = attempt->tokens;
	size_t size = (size_t)(attempt->count + 1) * sizeof(struct token);
	struct rules_error error = attempt->error;
	struct sentence found = { 0 };
	bool is_found = false, is_unclear = false;
	int count, room = RULES_WARNINGS_MAX - whole->rules->warning_count;

	_cleanup_free_ struct token *mended = memory_new(size), *used = memory_new(size);
	for (int i = 0; i < languages_count() && attempt->least_unknown > 0 && attempt->least_unknown <= room; i++) {
		memcpy(mended, as_written, size);
		if (!mend_in(attempt, language_at(i), mended, &count) || count > room)
			continue;
		struct attempt again = {
			.currency = attempt->currency, .tokens = mended, .count = attempt->count, .least_unknown = 0
		};
		read_in(&again, language_at(i));
		if (!again.is_found || again.is_unclear)
			continue;
		is_unclear |= is_found && !same_meaning(&found, &again.found);
		found = again.found;
		is_found = true;
		memcpy(used, mended, size);
	}
	attempt->error = error;
	if (!is_found || is_unclear)
		return false;
	attempt->found = found;
	warn_of_slips(attempt, as_written, used, whole);
	return true;
}

/* The text ends without a full stop. It may have been cut off, so the full stop is only proposed. */
static int refuse_unended(struct attempt *attempt, struct rules_error *ret_error)
{
	const char *start = attempt->tokens[0].source.data;
	const struct token *last = attempt->tokens;

	while (last->kind != TOKEN_END)
		last++;
	rules_refuse(ret_error, last->place, "\".\" at the end of the sentence but the text ends");
	attempt->count = (int)(last - attempt->tokens);
	if (attempt->count < 1 || attempt->count >= ITEMS_MAX)
		return -EINVAL;
	read_in_all(attempt);
	size_t len = (size_t)((const char *)last[-1].source.data + last[-1].source.len - start);
	if (attempt->is_found && len <= EXAMPLE_MAX && !memchr(start, '\n', len) && !memchr(start, '#', len))
		snprintf(ret_error->instead, sizeof(ret_error->instead), "%.*s.", (int)len, start);
	return -EINVAL;
}

/* --- two sentences in one --- */

static int token_of(const struct attempt *attempt, const struct item *item)
{
	int at = 0;

	while (attempt->tokens[at].source.data != item->source.data)
		at++;
	return at;
}

static bool read_halves(struct attempt *attempt, int seam, struct sentence *ret_first, struct sentence *ret_second)
{
	const struct token *tokens = attempt->tokens;
	int count = attempt->count, first = token_of(attempt, &attempt->items.list[seam]),
	    second = token_of(attempt, &attempt->items.list[seam + 1]);

	attempt->count = first;
	read_in_all(attempt);
	*ret_first = attempt->found;
	bool both = attempt->is_found;
	if (both) {
		attempt->tokens += second;
		attempt->count = count - second;
		read_in_all(attempt);
		*ret_second = attempt->found;
		both = attempt->is_found;
	}
	attempt->tokens = tokens;
	attempt->count = count;
	return both && may_stand_together(ret_first, ret_second);
}

/* Tries to read the sentence as two. 1: it added both; 0: they are not two sentences. */
static int read_as_two(const struct attempt *whole_sentence, struct whole *whole)
{
	_cleanup_free_ struct attempt *attempt = memory_new(sizeof(*attempt));
	struct sentence first, second;

	for (int i = 0; i < languages_count(); i++)
		for (int at = 1;; at++) {
			attempt->currency = whole_sentence->currency;
			attempt->tokens = whole_sentence->tokens;
			attempt->count = whole_sentence->count;
			items_read(language_at(i), READ_CLOCK, attempt->currency, attempt->tokens, attempt->count,
				&attempt->items);
			if (attempt->items.unknown > 0 || at + 1 >= attempt->items.count)
				break;
			if (!is_seam(&attempt->items, at) || !read_halves(attempt, at, &first, &second))
				continue;
			int err = whole_add(whole, &first);
			err = err < 0 ? err : whole_add(whole, &second);
			return err < 0 ? err : 1;
		}
	return 0;
}

/* If not even the first word of the sentence fits, the error lists all kinds of sentences. */
static void say_what_there_is(struct attempt *attempt)
{
	char word[40];
	const struct token *first = attempt->tokens;

	if (attempt->error.line &&
		(attempt->is_guessed || attempt->error.line != first->place.line ||
			attempt->error.column != first->place.column))
		return;
	text_copy_bytes(word, sizeof(word), first->source);
	rules_refuse(&attempt->error, first->place,
		"a sentence about small, medium or big carts, a rate (\"1 EUR is 1.08 USD\"), quiet hours or \"At most "
		"one mail\" but found \"%s\"",
		word);
}

/* May this item stand between two waits? */
static bool is_link(const struct item *item)
{
	return item_is_any(item, (const char *const[]){ ",", "and", "or", "then", "after", "filler", NULL });
}

/* Are the tokens from `count` to the end of the sentence one wait, its linking words and nothing else? */
static bool is_one_wait(struct attempt *attempt, int count, int whole)
{
	int waits = 0;

	items_read(attempt->language, READ_WAITS, attempt->currency, attempt->tokens + count, whole - count,
		&attempt->items);
	for (int i = 0; i < attempt->items.count; i++) {
		const struct item *item = &attempt->items.list[i];
		if (is_link(item) && !(waits && item_is(item, "then")))
			continue;
		if (!(item_is(item, "num") || item_is(item, "span")) || ++waits > 1)
			return false;
	}
	return waits == 1;
}

static bool found_two_mails(const struct attempt *attempt)
{
	const struct sentence *found = &attempt->found;

	return attempt->is_found && !attempt->is_unclear && found->kind == KIND_SIZES &&
		found->clauses[found->clause_count - 1].waits.mails == 2;
}

/*
 * Proposes the sentence without the third wait at its end, if that reads. Otherwise it proposes nothing: a
 * proposal may leave out only the error, and a ready-made example would say something else than the owner.
 */
static void shorten(struct attempt *attempt, struct rules_error *ret)
{
	const char *start = attempt->tokens[0].source.data;
	int line = attempt->error.line, column = attempt->error.column, whole = attempt->count;
	struct rules_error error = attempt->error;
	const struct language *language = attempt->language;
	int tries = EXAMPLE_TRIES;

	for (int count = whole - 1; count > 1 && language && tries > 0; count--) {
		const struct token *token = &attempt->tokens[count], *last = token - 1;
		bool before_error =
			token->place.line < line || (token->place.line == line && token->place.column <= column);
		size_t len = (size_t)((const char *)last->source.data + last->source.len - start);
		attempt->language = language;
		if (!before_error || last->kind == TOKEN_MARK || len > EXAMPLE_MAX || memchr(start, '\n', len) ||
			memchr(start, '#', len) || !is_one_wait(attempt, count, whole))
			continue;
		attempt->count = count;
		attempt->is_found = attempt->is_unclear = false;
		attempt->least_unknown = 0;
		tries--;
		read_in(attempt, language);
		if (!found_two_mails(attempt))
			continue;
		snprintf(ret->instead, sizeof(ret->instead), "%.*s.", (int)len, start);
		break;
	}
	attempt->count = whole;
	attempt->error = error;
}

/* "Under 40 or over 80" reads as a sentence; only the check of the whole text refuses it (check.c). */
static bool has_ends_crossed(const struct sentence *sentence)
{
	for (int i = 0; i < sentence->clause_count; i++) {
		const struct bounds *low = &sentence->clauses[i].low, *high = &sentence->clauses[i].high;
		if (low->count && high->count && low->list[0].minor > high->list[0].minor)
			return true;
	}
	return false;
}

bool sentence_reads(const char *text, const char *currency)
{
	_cleanup_(buffer_free) struct buffer tokens = { 0 };
	_cleanup_free_ struct attempt *attempt = memory_new(sizeof(*attempt));
	struct rules_error error = { 0 };

	if (rules_tokens(text, &tokens, &error) < 0)
		return false;
	attempt->currency = currency;
	attempt->tokens = (const struct token *)(const void *)tokens.data;
	attempt->count = (int)(tokens.len / sizeof(struct token)) - 1;
	if (attempt->count < 1 || attempt->count >= ITEMS_MAX)
		return false;
	read_in_all(attempt);
	return attempt->is_found && !has_ends_crossed(&attempt->found);
}

/* Reads one sentence and adds it to `whole`. `ret_count`: how many tokens it has, its full stop included. */
static int read_sentence(const struct token *tokens, const char *currency, struct whole *whole, int *ret_count)
{
	struct sentence_ends ends = sentence_ends(tokens);
	_cleanup_free_ struct attempt *attempt = memory_new(sizeof(*attempt));

	attempt->currency = currency;
	attempt->tokens = tokens;
	for (int i = ends.count - 1; i >= 0; i--) {
		attempt->count = ends.list[i];
		*ret_count = ends.list[i] + 1;
		if (attempt->count >= ITEMS_MAX)
			return rules_refuse(whole->error, tokens[0].place, "shorter sentences");
		read_in_all(attempt);
		if (attempt->is_found)
			return whole_add(whole, &attempt->found);
	}
	if (ends.count == 0)
		return refuse_unended(attempt, whole->error);
	int two = attempt->is_unclear ? 0 : read_as_two(attempt, whole);
	if (two)
		return two < 0 ? two : 0;
	bool has_reason = find_reason(attempt);
	if (!has_reason && !attempt->is_unclear && read_mended(attempt, whole))
		return whole_add(whole, &attempt->found);
	if (!has_reason && !attempt->is_unclear)
		say_what_there_is(attempt);
	*whole->error = attempt->error;
	shorten(attempt, whole->error);
	if (!*whole->error->instead)
		offer_instead(tokens, ends.list[ends.count - 1], currency, whole->error);
	return -EINVAL;
}

/* --- the whole text --- */

int rules_parse(const char *text, const char *currency, struct rules *ret, struct rules_error *ret_error)
{
	_cleanup_(buffer_free) struct buffer tokens = { 0 };
	_cleanup_free_ struct whole *whole = memory_new(sizeof(*whole));
	int err, count = 0;

	memset(ret, 0, sizeof(*ret));
	memset(ret_error, 0, sizeof(*ret_error));
	whole->rules = ret;
	whole->error = ret_error;
	err = rules_tokens(text, &tokens, ret_error);
	const struct token *at = (const struct token *)(const void *)tokens.data;
	while (err == 0 && at->kind != TOKEN_END) {
		int mark = list_mark(at);
		at += mark;
		if (mark)
			continue;
		err = read_sentence(at, currency ? currency : "", whole, &count);
		at += count;
	}
	if (err == 0) {
		whole->end = at->place;
		err = whole_check(whole);
	}
	if (err < 0)
		rules_show(text, ret_error);
	return err;
}
