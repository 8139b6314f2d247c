/*
 * reason.c: finds the reason why a mail came back, from codes and words
 *
 * Servers give the reason in up to three ways: the status of the report, the enhanced code in the answer
 * (both RFC 3463), and words. They often disagree: gateways write 5.0.0 or 5.1.1 for any 550, and large
 * providers put "unknown user" under 5.4.1, 5.5.0 or 5.7.1. So sure words come first, then a code with one
 * meaning (the code in the answer before that of the report), then words that are not sure.
 *
 * Promises:  an address counts as gone only by words that say so, or by a code that has no other use.
 * Read next: phrases.txt, bounce.c (the caller)
 */
#include "services/platform/mailin/reason.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/mailin/words.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The phrases of phrases.txt, which is part of the program
 *
 * Owns:      the table of the phrases, made on first use and kept.
 * Promises:  the phrases keep the order of the file.
 * Fails by:  die() for a section with an unknown name, a mistake in phrases.txt that every test finds.
 */

struct phrase {
	enum reason reason;
	bool sure; /* else it counts only if no code speaks against it */
	bool bare; /* it says only that the recipient is refused: a code of policy outweighs it */
	const char *words;
};

enum { PHRASES_ROOM = 6000, LINE_MOST = 1000 };

static struct {
	struct buffer text;
	struct phrase all[PHRASES_ROOM];
	size_t count;
} known;

/* "[user]", "[user, unsure]", "[user, bare]" */
static void read_section(const char *line, struct phrase *ret)
{
	static const struct {
		const char *name;
		enum reason reason;
	} sections[] = { { "user", REASON_USER }, { "inactive", REASON_INACTIVE }, { "moved", REASON_MOVED },
		{ "host", REASON_HOST }, { "full", REASON_FULL }, { "passing", REASON_PASSING },
		{ "expired", REASON_EXPIRED }, { "network", REASON_NETWORK }, { "system", REASON_SYSTEM },
		{ "size", REASON_SIZE }, { "content", REASON_CONTENT }, { "policy", REASON_POLICY },
		{ "rate", REASON_RATE }, { "sender", REASON_SENDER } };
	char sure[32], unsure[32], bare[32];

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		snprintf(sure, sizeof(sure), "[%s]", sections[i].name);
		snprintf(unsure, sizeof(unsure), "[%s, unsure]", sections[i].name);
		snprintf(bare, sizeof(bare), "[%s, bare]", sections[i].name);
		ret->reason = sections[i].reason;
		ret->sure = strcmp(line, sure) == 0;
		ret->bare = strcmp(line, bare) == 0;
		if (ret->sure || ret->bare || strcmp(line, unsure) == 0)
			return;
	}
	die("phrases.txt: %s: expected [REASON], [REASON, unsure] or [REASON, bare]", line);
}

static void add_phrase(const struct phrase *like, const char *words)
{
	if (known.count == PHRASES_ROOM)
		die("phrases.txt: more than %d phrases", (int)PHRASES_ROOM);
	known.all[known.count] = *like;
	known.all[known.count++].words = memory_copy_text(words);
}

/* Adds "(user|mailbox) unknown" as one phrase for each choice, the first brackets first. */
static void add_phrases(const struct phrase *like, const char *line)
{
	const char *open = strchr(line, '('), *close = open ? strchr(open, ')') : NULL;
	char phrase[LINE_MOST];

	if (!close || !memchr(open, '|', (size_t)(close - open))) {
		add_phrase(like, line);
		return;
	}
	for (const char *choice = open; choice != close;) {
		size_t len = strcspn(++choice, "|)");
		snprintf(phrase, sizeof(phrase), "%.*s%.*s%s", (int)(open - line), line, (int)len, choice, close + 1);
		add_phrases(like, phrase);
		choice += len;
	}
}

static void read_all(void)
{
	struct phrase phrase = { 0 };
	char *rest;

	buffer_add_text(&known.text, (const char *)phrases_text);
	buffer_text(&known.text);
	rest = (char *)known.text.data;
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (*line == '[') {
			read_section(line, &phrase);
		} else if (*line && *line != '#') {
			add_phrases(&phrase, line);
		}
	}
}

/* Finds the first sure or unsure phrase in these tidied words, and its place; NULL: there is none. */
static const struct phrase *phrase_find(const char *words, bool sure, const char **ret_at)
{
	if (known.count == 0)
		read_all();
	*ret_at = NULL;
	for (size_t i = 0; i < known.count; i++)
		if (known.all[i].sure == sure && (*ret_at = words_find(words, known.all[i].words)))
			return &known.all[i];
	return NULL;
}

const char *reason_name(enum reason reason)
{
	static const char *const names[] = { "unclear", "user unknown", "mailbox closed", "moved", "host unknown",
		"mailbox full", "passing", "expired", "network", "system", "size", "content", "policy", "rate",
		"sender refused" };

	return names[reason];
}

bool reason_is_permanent(enum reason reason)
{
	return reason == REASON_USER || reason == REASON_INACTIVE || reason == REASON_MOVED || reason == REASON_HOST;
}

/* ---- codes ---- */

struct code {
	int class, subject, detail; /* of 5.1.1; class 0: there is none */
};

/*
 * The meaning of a code if nothing else is known (RFC 3463 and IANA's list; 5.1.10 and 5.4.310 are
 * Microsoft's). A code that is not here, or means UNCLEAR, is used for anything.
 */
static const struct {
	int subject, detail; /* -1: any */
	enum reason reason;
} meanings[] = {
	{ 1, 1, REASON_USER },
	{ 1, 2, REASON_HOST },
	{ 1, 3, REASON_USER },
	{ 1, 4, REASON_UNCLEAR }, /* ambiguous: more than one mailbox fits */
	{ 1, 6, REASON_MOVED },
	{ 1, 7, REASON_SENDER },
	{ 1, 8, REASON_SENDER },
	{ 1, 9, REASON_SENDER },
	{ 1, 10, REASON_USER },
	{ 2, 2, REASON_FULL },
	{ 2, 3, REASON_SIZE },
	{ 3, 1, REASON_FULL },
	{ 3, 4, REASON_SIZE },
	{ 3, 0, REASON_UNCLEAR },
	{ 3, -1, REASON_SYSTEM },
	{ 4, 310, REASON_HOST },
	{ 4, 7, REASON_EXPIRED },
	{ 4, 316, REASON_EXPIRED },
	{ 4, 0, REASON_UNCLEAR },
	{ 4, 1, REASON_UNCLEAR },
	{ 4, -1, REASON_NETWORK },
	{ 5, 0, REASON_UNCLEAR },
	{ 5, 3, REASON_RATE },
	{ 5, -1, REASON_SYSTEM }, /* about the protocol: a command, its order, its words */
	{ 6, -1, REASON_CONTENT },
	{ 7, 0, REASON_UNCLEAR },
	{ 7, 1, REASON_UNCLEAR },
	{ 7, 13, REASON_INACTIVE },
	{ 7, 17, REASON_USER },
	{ 7, 18, REASON_HOST },
	{ 7, 27, REASON_UNCLEAR },
	{ 7, -1, REASON_POLICY },
};

static enum reason meaning_of(struct code code)
{
	for (size_t i = 0; code.class && i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].subject == code.subject &&
			(meanings[i].detail == code.detail || meanings[i].detail < 0))
			return meanings[i].reason;
	return REASON_UNCLEAR;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * A class, a dot, digits, a dot and a digit, with nothing between: sscanf alone skips blanks and takes signs.
 */
static bool begins_as_code(const char *at)
{
	size_t digits;

	if ((*at != '2' && *at != '4' && *at != '5') || at[1] != '.')
		return false;
	digits = strspn(at + 2, "0123456789");
	return digits > 0 && at[2 + digits] == '.' && is_digit(at[2 + digits + 1]);
}

/* Reads "5.1.1" at `at`. No digit, and no dot with a digit, may follow: an IPv4 address is no code. */
static bool read_code(const char *at, struct code *ret)
{
	int len = 0;

	if (!begins_as_code(at) || sscanf(at, "%1d.%3d.%3d%n", &ret->class, &ret->subject, &ret->detail, &len) != 3)
		return false;
	return !is_digit(at[len]) && !(at[len] == '.' && is_digit(at[len + 1]));
}

static bool may_begin(const char *words, const char *at)
{
	return at == words || !(is_digit(at[-1]) || at[-1] == '.' || at[-1] == '-' || isalpha((unsigned char)at[-1]));
}

/* The first code with a meaning; if none has one, the first code. */
static struct code code_in(const char *words)
{
	struct code first = { 0 }, code;

	for (const char *at = words; *at; at++) {
		if (!may_begin(words, at) || !read_code(at, &code) || code.class == 2)
			continue;
		if (meaning_of(code) != REASON_UNCLEAR)
			return code;
		if (!first.class)
			first = code;
	}
	return first;
}

/* The class, 4 or 5, of the first reply such as "550 ", "550-" or "(550)"; 0: there is none. */
static int reply_class_in(const char *words)
{
	for (const char *at = words; *at; at++)
		if ((*at == '4' || *at == '5') && at[1] >= '0' && at[1] <= '5' && is_digit(at[2]) &&
			!isalnum((unsigned char)at[3]) && at[3] != '.' && may_begin(words, at))
			return *at - '0';
	return 0;
}

bool reason_is_quoted(const char *words)
{
	return reply_class_in(words) == 5;
}

/* The code in the answer, unless it says nothing (x.0.0); then the code of the report. */
static struct code code_of(const struct refusal *refusal)
{
	struct code status = { 0 }, said = code_in(refusal->diagnostic);

	if (!read_code(refusal->status, &status))
		status.class = 0;
	return said.class && (said.subject || !status.class) ? said : status;
}

/*
 * Sendmail writes 5.1.1 into its report for any 550 without a code of its own. If words came with that 550
 * and no phrase matches them, the 5.1.1 says no more than they do.
 */
static bool is_guessed(const struct refusal *refusal, struct code code)
{
	enum { WORDS_LEAST = 12 };
	const char *reply = strstr(refusal->diagnostic, "550 ");

	return code.subject == 1 && code.detail == 1 && reply && strlen(reply) > WORDS_LEAST &&
		!code_in(refusal->diagnostic).class;
}

/* Gateways write class 5 into the status of a mail that was answered with class 4. */
static int class_of(const struct refusal *refusal, struct code code)
{
	int reply = reply_class_in(refusal->diagnostic);

	return reply && !code_in(refusal->diagnostic).class ? reply : code.class;
}

/* ---- codes and words ---- */

/*
 * Is the failure passing? A class 4 in the report alone may come from a server that gave up. A class 4 that a
 * server answered tells nothing about the address.
 */
static bool passes(int class, const struct refusal *refusal)
{
	return class == 4 && (!refusal->gave_up || reply_class_in(refusal->diagnostic) == 4);
}

/* A resolver that denied the name will deny it again; a resolver that did not answer may answer later. */
static bool is_name_denied(const struct refusal *refusal)
{
	return words_find(refusal->diagnostic, "nxdomain") != NULL;
}

static enum reason by_sure_words(enum reason words, struct code code, int class, const struct refusal *refusal)
{
	enum reason meaning = meaning_of(code);

	if (!reason_is_permanent(words))
		return words;
	if (meaning == REASON_SENDER)
		return meaning;
	if (passes(class, refusal))
		return REASON_PASSING;
	return words == REASON_HOST && class == 4 && !is_name_denied(refusal) ? REASON_NETWORK : words;
}

static enum reason by_code(enum reason meaning, int class)
{
	return reason_is_permanent(meaning) && class == 4 ? REASON_PASSING : meaning;
}

static enum reason by_unsure_words(enum reason words, enum reason meaning, int class, const struct refusal *refusal)
{
	if (reason_is_permanent(words) && (meaning != REASON_UNCLEAR || (refusal->is_text && class != 5)))
		return meaning;
	if (reason_is_permanent(words))
		return class == 4 ? REASON_PASSING : words;
	return meaning == REASON_UNCLEAR || reason_is_permanent(meaning) ? words : meaning;
}

enum reason reason_of(const struct refusal *refusal, const char **ret_at)
{
	const struct code code = code_of(refusal);
	const int class = class_of(refusal, code);
	const enum reason meaning = by_code(meaning_of(code), class);
	const char *at;
	const struct phrase *phrase = phrase_find(refusal->diagnostic, true, &at);
	const bool sure = phrase != NULL;

	if (!sure)
		phrase = phrase_find(refusal->diagnostic, false, &at);
	if (ret_at)
		*ret_at = at;
	if (phrase && phrase->bare && code.subject == 7)
		return REASON_POLICY;
	if (phrase)
		return sure ? by_sure_words(phrase->reason, code, class, refusal)
			    : by_unsure_words(phrase->reason, meaning, class, refusal);
	if (is_guessed(refusal, code))
		return REASON_UNCLEAR;
	return meaning == REASON_UNCLEAR && class == 4 ? REASON_PASSING : meaning;
}
