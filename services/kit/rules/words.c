/*
 * words.c: the meanings of the words of the rules, in ten languages
 *
 * Owns:      the words of services/kit/rules/words/<language>.txt. They are built into the program and parsed
 *            once, by the scanner that also reads the owner's text (token.c): both are folded alike.
 * Promises:  the longest phrase wins. If it has several meanings, the grammar takes the one that fits.
 * Read next: words/en.txt, items.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct language {
	char name[8];
	bool has_comma, counts_units, waits_behind;
	struct map *phrases; /* folded tokens with blanks -> struct phrase; a beginning has no concept */
	struct mendable *mendable;
	int mendable_count;
};

/* A word for which a misspelling may be read, or, if `is_offer`, may only be offered. */
struct mendable {
	const struct phrase *phrase;
	char word[64];
	bool is_offer;
};

#define INSTEAD "instead " /* "instead Monday to Friday: working days" */

static struct language languages[LANGUAGES_MAX];
static int language_count;

static bool is_among(const char *concept, const char *const *list)
{
	while (*list && strcmp(*list, concept) != 0)
		list++;
	return *list != NULL;
}

/* May a misspelled word be read as this concept? A wrong guess among these cannot reverse a meaning. */
static bool is_mendable(const char *concept)
{
	static const char *const list[] = { "cart", "remind", "mail", "shopper", "minute", "hour", "day", "week",
		"month", "after", "then", "again", "quiet", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "weekend",
		NULL };

	return is_among(concept, list);
}

/* A wrong guess among these concepts could reverse a meaning, so the word is only offered to the owner. */
static bool is_offerable(const char *concept)
{
	static const char *const list[] = { "small", "medium", "big", "under", "over", "upto", "atleast", "between",
		"rest", NULL };

	return is_among(concept, list);
}

/* Returns the one copy of this name. It is never freed. */
static const char *name_of(const char *key)
{
	static struct map *names;

	if (!names)
		names = map_new();
	char *name = map_get(names, bytes_of(key));
	if (!name) {
		name = memory_copy_text(key);
		map_put(names, bytes_of(key), name);
	}
	return name;
}

static struct phrase *phrase_of(struct language *language, const char *text)
{
	struct phrase *phrase = map_get(language->phrases, bytes_of(text));

	if (!phrase) {
		phrase = memory_new(sizeof(*phrase));
		map_put(language->phrases, bytes_of(text), phrase);
	}
	return phrase;
}

/* The concept of a key of the file: "dow" for "mon", "currency" for "usd". Sets the phrase's value. */
static const char *concept_of(const char *key, struct phrase *phrase)
{
	static const char *const days[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };
	char code[4] = "";

	for (int i = 0; i < 7; i++)
		if (strcmp(key, days[i]) == 0) {
			phrase->value = 1 << i;
			return "dow";
		}
	if (*key == '=') {
		phrase->value = (int64_t)(strtod(key + 1, NULL) * 1000 + 0.5);
		return "num";
	}
	if (text_starts(key, "span ")) {
		phrase->value = atoll(key + strlen("span ")) * US_PER_MINUTE;
		return "span";
	}
	for (size_t i = 0; strlen(key) == 3 && i < 3; i++)
		code[i] = key[i] >= 'a' && key[i] <= 'z' ? (char)(key[i] - 'a' + 'A') : '?';
	if (strlen(key) == 3 && strcmp(key, "all") != 0 && strcmp(key, "and") != 0 && strcmp(key, "but") != 0 &&
		strcmp(key, "not") != 0 && strcmp(key, "per") != 0 && strcmp(key, "one") != 0 &&
		strcmp(key, "big") != 0 && strcmp(key, "day") != 0 && money_currency_valid(code)) {
		const char *name = strcmp(code, "USD") == 0 ? "dollars" : strcmp(code, "GBP") == 0 ? "pounds" : code;
		TEXT_COPY(phrase->currency, name);
		return "currency";
	}
	return name_of(key);
}

static void add_concept(struct phrase *phrase, const char *concept)
{
	for (int i = 0; i < CONCEPTS_MAX; i++) {
		if (phrase->concepts[i] && strcmp(phrase->concepts[i], concept) != 0)
			continue;
		phrase->concepts[i] = concept;
		return;
	}
	die("the words of the rules: a phrase has more than %d meanings (%s)", CONCEPTS_MAX, concept);
}

/* "d'" is one token only if a letter follows it, so add_phrase() scans such a text with a letter added. */
static bool ends_in_apostrophe(const char *text)
{
	size_t len = strlen(text);

	return len > 1 && text[len - 1] == '\'';
}

/* Adds the phrase. Also adds each beginning of it, without a concept, so that a search can stop early. */
static void add_phrase(struct language *language, const char *key, const char *text)
{
	_cleanup_(buffer_free) struct buffer tokens = { 0 };
	struct rules_error error;
	char joined[256] = "", whole[256];
	bool is_elided = ends_in_apostrophe(text);

	if (snprintf(whole, sizeof(whole), "%s%s", text, is_elided ? "a" : "") >= (int)sizeof(whole) ||
		rules_tokens(whole, &tokens, &error) < 0)
		die("the words of the rules in %s: \"%s\" cannot be read", language->name, text);
	const struct token *list = (const struct token *)(const void *)tokens.data;
	int count = (int)(tokens.len / sizeof(*list)) - 1 - is_elided;
	if (count < 1 || count > PHRASE_TOKENS_MAX)
		die("the words of the rules in %s: \"%s\" is no phrase", language->name, text);
	for (int i = 0; i < count; i++) {
		snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s", i ? " " : "", list[i].word);
		phrase_of(language, joined);
	}
	struct phrase *phrase = phrase_of(language, joined);
	if (text_starts(key, INSTEAD))
		phrase->instead = name_of(key + strlen(INSTEAD));
	add_concept(phrase, phrase->instead ? "!vague" : concept_of(key, phrase));
	if (count > 1 || (!is_mendable(key) && !is_offerable(key)))
		return;
	struct mendable *mendable = &language->mendable[language->mendable_count++];
	*mendable = (struct mendable){ .phrase = phrase, .is_offer = is_offerable(key) };
	TEXT_COPY(mendable->word, joined);
}

static char *trim(char *text)
{
	text += strspn(text, " ");
	for (size_t len = strlen(text); len && text[len - 1] == ' '; len--)
		text[len - 1] = '\0';
	return text;
}

static void read_line(struct language *language, char *line)
{
	char *colon = strchr(line, ':'), *rest = NULL;

	if (*line == '#' || !colon)
		return;
	*colon = '\0';
	for (char *one = strtok_r(colon + 1, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		if (strcmp(line, "numbers") == 0)
			language->has_comma = strcmp(trim(one), "comma") == 0;
		else if (strcmp(line, "units") == 0)
			language->counts_units = true;
		else if (strcmp(line, "waits") == 0)
			language->waits_behind = true;
		else if (*trim(one))
			add_phrase(language, trim(line), trim(one));
	}
}

static void load(const struct text_resource *text)
{
	struct language *language = &languages[language_count];
	char *copy = memory_copy_text((const char *)text->text), *rest = NULL;
	size_t words = 1;

	for (const char *c = copy; *c; c++)
		words += *c == ',' || *c == ':';
	TEXT_COPY(language->name, text->language);
	language->phrases = map_new();
	language->mendable = memory_new(words * sizeof(*language->mendable));
	language_count++;
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(language, line);
	free(copy);
}

int languages_count(void)
{
	while (word_texts[language_count].language)
		load(&word_texts[language_count]);
	return language_count;
}

const struct language *language_at(int index)
{
	return &languages[index];
}

const struct language *language_named(const char *tag)
{
	for (int i = 0; i < languages_count(); i++)
		if (locale_same_language(languages[i].name, tag))
			return &languages[i];
	return NULL;
}

bool language_has_comma(const struct language *language)
{
	return language->has_comma;
}

bool language_counts_units(const struct language *language)
{
	return language->counts_units;
}

bool language_waits_behind(const struct language *language)
{
	return language->waits_behind;
}

/* Is the second token a single letter behind a blank? The "2 e" of "2 e-mails" is not the phrase "2e". */
static bool is_stray_ending(const struct token *tokens)
{
	return tokens[0].kind == TOKEN_NUMBER && !tokens[1].joined && strlen(tokens[1].word) == 1;
}

const struct phrase *language_find(
	const struct language *language, const struct token *tokens, int count, size_t skip, int *ret_used)
{
	const struct phrase *longest = NULL;
	char joined[PHRASE_TOKENS_MAX * 66] = "";
	size_t len = 0;

	for (int i = 0; i < count && i < PHRASE_TOKENS_MAX; i++) {
		const char *word = tokens[i].word + (i == 0 && strlen(tokens[i].word) >= skip ? skip : 0);
		if (!*word || (i == 1 && is_stray_ending(tokens)))
			break;
		len += (size_t)snprintf(joined + len, sizeof(joined) - len, "%s%s", i ? " " : "", word);
		const struct phrase *phrase = map_get(language->phrases, BYTES(joined, len));
		if (!phrase)
			break;
		if (!phrase->concepts[0])
			continue;
		longest = phrase;
		*ret_used = i + 1;
	}
	return longest;
}

/* --- slips of the pen --- */

enum { MEND_LEAST = 4, OFFER_LEAST = 3 };

/* Do the words differ by one letter too many, one too few, one other letter, or two swapped letters? */
static bool is_one_slip(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), same = 0;

	while (a[same] && a[same] == b[same])
		same++;
	a += same, b += same, la -= same, lb -= same;
	if (la == lb)
		return (la > 0 && strcmp(a + 1, b + 1) == 0) ||
			(la > 1 && a[0] == b[1] && a[1] == b[0] && strcmp(a + 2, b + 2) == 0);
	return la == lb + 1 ? strcmp(a + 1, b) == 0 : lb == la + 1 && strcmp(a, b + 1) == 0;
}

/* Do words of one length differ in one letter? These are often two real words ("older" and "order"). */
static bool is_other_letter(const char *a, const char *b)
{
	int others = 0;

	if (strlen(a) != strlen(b))
		return false;
	for (; *a; a++, b++)
		others += *a != *b;
	return others == 1;
}

/* Does any language know the word? Then it is no misspelling: "mais" is French, and not a wrong "mails". */
static bool is_a_word(const char *word)
{
	for (int i = 0; i < language_count; i++) {
		const struct phrase *phrase = map_get(languages[i].phrases, bytes_of(word));
		if (phrase && phrase->concepts[0])
			return true;
	}
	return false;
}

/* May a word in this place limit carts, shoppers or times, if it is no misspelling of the phrase? */
static bool may_qualify(const struct phrase *phrase, enum mend_place place)
{
	const char *concept = phrase->concepts[0];

	return place == MEND_WHOM ||
		(place == MEND_INSIDE && (strcmp(concept, "remind") == 0 || strcmp(concept, "mail") == 0));
}

const char *language_mend(const struct language *language, const char *word, enum mend_place place)
{
	size_t least = place == MEND_OFFER ? OFFER_LEAST : MEND_LEAST;
	int found = -1;

	if (strlen(word) < MEND_LEAST || is_a_word(word))
		return NULL;
	for (int i = 0; i < language->mendable_count; i++) {
		const struct mendable *mendable = &language->mendable[i];
		const char *meant = mendable->word;
		if (mendable->is_offer != (place == MEND_OFFER) || strlen(meant) < least || !is_one_slip(word, meant))
			continue;
		if (may_qualify(mendable->phrase, place) && (word[0] != meant[0] || is_other_letter(word, meant)))
			continue;
		const struct phrase *one = mendable->phrase,
				    *other = found >= 0 ? language->mendable[found].phrase : one;
		if (one->concepts[0] != other->concepts[0] && strcmp(one->concepts[0], other->concepts[0]) != 0)
			return NULL;
		if (one->value != other->value)
			return NULL;
		found = i;
	}
	return found >= 0 ? language->mendable[found].word : NULL;
}

/* --- parts that are the same in every language --- */

int64_t words_unit_us(const char *concept)
{
	static const struct {
		const char *name;
		int64_t us;
	} units[] = { { "minute", US_PER_MINUTE }, { "hour", US_PER_HOUR }, { "day", US_PER_DAY },
		{ "week", 7 * US_PER_DAY }, { "month", 30 * US_PER_DAY } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(concept, units[i].name) == 0)
			return units[i].us;
	return 0;
}

const char *words_unit_name(int64_t unit_us)
{
	return unit_us == US_PER_DAY ? "days" : unit_us == US_PER_HOUR ? "hours" : "minutes";
}

const char *words_size_name(enum cart_size size)
{
	static const char *const names[] = { "small", "medium", "big", "such" };

	return names[size];
}

/* Signs and names as people write them. `shared`: the currencies that use it; the shop's own is preferred. */
static const struct {
	const char *word;
	const char *currency; /* NULL: only the shop's own can be meant */
	const char *shared;
} named[] = {
	{ "$", "USD",
		"USD CAD AUD NZD SGD HKD MXN TWD ARS CLP COP BSD BBD BMD BND BZD FJD GYD JMD KYD LRD NAD SBD TTD XCD" },
	{ "dollars", "USD", "USD CAD AUD NZD SGD HKD TWD BSD BBD BMD BND BZD FJD GYD JMD KYD LRD NAD SBD TTD XCD" },
	{ "dollar", "USD", "USD CAD AUD NZD SGD HKD TWD BSD BBD BMD BND BZD FJD GYD JMD KYD LRD NAD SBD TTD XCD" },
	{ "us$", "USD", "" },
	{ "ca$", "CAD", "" },
	{ "c$", "CAD", "" },
	{ "au$", "AUD", "" },
	{ "a$", "AUD", "" },
	{ "nz$", "NZD", "" },
	{ "hk$", "HKD", "" },
	{ "sg$", "SGD", "" },
	{ "s$", "SGD", "" },
	{ "mx$", "MXN", "" },
	{ "r$", "BRL", "" },
	{ "€", "EUR", "" },
	{ "euros", "EUR", "" },
	{ "euro", "EUR", "" },
	{ "£", "GBP", "GBP EGP FKP GIP LBP SHP" },
	{ "pounds", "GBP", "GBP EGP FKP GIP LBP SHP" },
	{ "pound", "GBP", "GBP EGP FKP GIP LBP SHP" },
	{ "¥", "JPY", "JPY CNY" },
	{ "￥", "JPY", "JPY CNY" },
	{ "yen", "JPY", "" },
	{ "yuan", "CNY", "" },
	{ "francs", NULL, "CHF XOF XAF XPF" },
	{ "kr", NULL, "SEK NOK DKK ISK" },
	{ "kronor", "SEK", "" },
	{ "zł", "PLN", "" },
	{ "zloty", "PLN", "" },
	{ "kč", "CZK", "" },
	{ "ft", "HUF", "" },
	{ "₹", "INR", "" },
	{ "rupees", NULL, "INR PKR LKR NPR MUR" },
	{ "₩", "KRW", "" },
	{ "₺", "TRY", "" },
	{ "₴", "UAH", "" },
	{ "₽", "RUB", "" },
	{ "₪", "ILS", "" },
	{ "฿", "THB", "" },
	{ "₫", "VND", "" },
	{ "₱", "PHP", "" },
	{ "₦", "NGN", "" },
};

/* Is it a currency code such as "usd" or "USD"? `ret` gets it in capitals. */
static bool is_code(const char *word, char ret[4])
{
	if (strlen(word) != 3)
		return false;
	for (int i = 0; i < 3; i++)
		ret[i] = word[i] >= 'a' && word[i] <= 'z' ? (char)(word[i] - 'a' + 'A') : word[i];
	ret[3] = '\0';
	return money_currency_valid(ret);
}

bool words_name_currency(const char *word)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (strcmp(word, named[i].word) == 0)
			return true;
	return false;
}

bool words_currency(const char *word, const char *shop_currency, char ret[4])
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		if (strcmp(word, named[i].word) != 0)
			continue;
		bool own = shop_currency && strlen(shop_currency) == 3 && strstr(named[i].shared, shop_currency);
		const char *meant = own ? shop_currency : named[i].currency;
		return meant && text_copy(ret, 4, meant);
	}
	return is_code(word, ret);
}
