/*
 * split.c: finds where a sentence of the rules begins and ends, and where one sentence states two limits
 *
 * Owns:      list marks ("-", "1."), the difference between the point of a sentence and that of an
 *            abbreviation, and the "and" that links two limits.
 * Promises:  each point that may end a sentence is among its ends. Two halves may stand together only if each
 *            means the same alone.
 * Read next: parse.c (the caller: it tries each end), token.c
 */
#include "services/kit/rules/text.h"
#include <string.h>

enum { SHORT_WORD = 4, DAY_MINUTES = 1440 };

static const char *const nos[] = { "no", "not", "never", "nothing", "nobody", NULL };

/* --- where a sentence begins and ends --- */

static bool is_end(const struct token *token)
{
	return token->kind == TOKEN_MARK && strcmp(token->word, ".") == 0;
}

/* Is it a point of an abbreviation, such as "Std." or "9 p.m.", behind which the sentence may go on? */
static bool is_soft_end(const struct token *token)
{
	const struct token *before = token - 1, *behind = token + 1;
	bool goes_on = behind->kind == TOKEN_NUMBER || behind->kind == TOKEN_TIME ||
		(behind->kind == TOKEN_WORD && !behind->upper) ||
		(behind->kind == TOKEN_MARK && strchr("-,:;(", *behind->word) && *behind->word) ||
		behind->kind == TOKEN_SIGN;

	return token->joined && before->kind == TOKEN_WORD && before->source.len <= SHORT_WORD &&
		token->source.len == 1 && goes_on;
}

/* The number of tokens of a list mark before a sentence: "-", "*", "1." or "1)". */
int list_mark(const struct token *tokens)
{
	const struct token *token = tokens, *next = token + 1;
	bool is_minus = *token->word == '-' && next->joined && (next->kind == TOKEN_NUMBER || next->kind == TOKEN_TIME);
	bool is_number = token->kind == TOKEN_NUMBER && next->kind == TOKEN_MARK && next->joined &&
		(is_end(next) || *next->word == ')');

	if (token->kind == TOKEN_MARK && !is_minus &&
		(*token->word == '-' || *token->word == '*' || strcmp(token->word, "•") == 0))
		return 1;
	return is_number && token->place.column <= 8 && next[1].kind == TOKEN_WORD && next[1].upper ? 2 : 0;
}

struct sentence_ends sentence_ends(const struct token *tokens)
{
	struct sentence_ends ends = { 0 };

	for (int at = 0; tokens[at].kind != TOKEN_END; at++) {
		if (!is_end(&tokens[at]) || at == 0)
			continue;
		ends.list[ends.count++] = at;
		if (!is_soft_end(&tokens[at]) || ends.count == SENTENCE_ENDS_MAX)
			break;
	}
	return ends;
}

/* --- two sentences in one --- */

/* Finds "... and never on Sundays", "... and at most 3 per week": each half must be a whole limit. */
bool is_seam(const struct items *items, int at)
{
	const struct item *link = &items->list[at], *next = link + 1;
	bool limits = item_is_any(next, nos) || (item_is(next, "atmost") && !item_is(next, "only"));

	return at > 0 && (item_is(link, "and") || item_is(link, ";")) && limits &&
		(items_have(items, at, nos) || item_is(&items->list[0], "atmost")) &&
		!items_have(items, at, (const char *const[]){ "quiet", "only", NULL });
}

static bool names_days(const struct sentence *sentence)
{
	return sentence->quiet_count > 0 && sentence->quiets[0].days != RULES_EVERY_DAY;
}

static bool is_whole_day(const struct rules_quiet *quiet)
{
	return quiet->to_minute - quiet->from_minute == DAY_MINUTES;
}

/* "No mail on Sundays and not before 10:00" may not: the time may hold on Sundays or on every day. */
bool may_stand_together(const struct sentence *first, const struct sentence *second)
{
	bool is_first = first->kind == KIND_HOURS || first->kind == KIND_OFTEN;

	if (!is_first || (second->kind != KIND_HOURS && second->kind != KIND_OFTEN))
		return false;
	if (first->kind == KIND_OFTEN || second->kind == KIND_OFTEN)
		return true;
	return !names_days(first) && names_days(second) && is_whole_day(&second->quiets[0]);
}
