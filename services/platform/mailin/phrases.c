/*
 * phrases.c: the phrases of phrases.txt, which is part of the program
 *
 * Owns:      the table of them, made when it is first asked for and kept.
 * Promises:  their order.
 * Fails by:  die() for a section of an unknown name: a mistake in phrases.txt, which no test lets pass.
 * Read next: phrases.txt, reason.c
 */
#include "services/platform/mailin/phrases.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/mailin/words.h"
#include <stdio.h>

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

/* "(user|mailbox) unknown": each of its choices in turn, the first brackets first. */
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

const struct phrase *phrase_find(const char *words, bool sure, const char **ret_at)
{
	if (known.count == 0)
		read_all();
	*ret_at = NULL;
	for (size_t i = 0; i < known.count; i++)
		if (known.all[i].sure == sure && (*ret_at = words_find(words, known.all[i].words)))
			return &known.all[i];
	return NULL;
}
