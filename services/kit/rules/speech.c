/*
 * speech.c: the patterns in which the rules are printed in each language, from sentences/<language>.txt
 *
 * Owns:      the patterns. They are built into the program, and each language is parsed at its first use.
 * Promises:  a language has all patterns. If one is missing, the program ends when the language is first
 *            used; a test uses each language.
 * Read next: sentences/en.txt, print.c
 */
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include "services/kit/rules/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct rules_speech {
	const char *language;
	char *patterns[SPEECH_KEYS];
};

static const char *const key_names[SPEECH_KEYS] = { [SPEECH_AND] = "and",
	[SPEECH_COMMA] = "comma",
	[SPEECH_OR] = "or",
	[SPEECH_POINT] = "point",
	[SPEECH_SMALL] = "small",
	[SPEECH_MEDIUM] = "medium",
	[SPEECH_BIG] = "big",
	[SPEECH_ALL] = "all",
	[SPEECH_REST] = "rest",
	[SPEECH_NAMED] = "named",
	[SPEECH_CARTS] = "carts",
	[SPEECH_UNDER] = "under",
	[SPEECH_UPTO] = "upto",
	[SPEECH_OVER] = "over",
	[SPEECH_OVER_UNDER] = "over-under",
	[SPEECH_OVER_UPTO] = "over-upto",
	[SPEECH_FROM] = "from",
	[SPEECH_FROM_UNDER] = "from-under",
	[SPEECH_FROM_UPTO] = "from-upto",
	[SPEECH_NEVER] = "never",
	[SPEECH_ONCE] = "once",
	[SPEECH_TWICE] = "twice",
	[SPEECH_MINUTES] = "minutes",
	[SPEECH_HOURS] = "hours",
	[SPEECH_DAYS] = "days",
	[SPEECH_RATE] = "rate",
	[SPEECH_CLOSED] = "closed",
	[SPEECH_QUIET] = "quiet",
	[SPEECH_QUIET_DAYS] = "quiet-days",
	[SPEECH_WINDOW] = "window",
	[SPEECH_CAPS] = "caps",
	[SPEECH_BUILTIN] = "builtin",
	[SPEECH_WEEKDAYS] = "weekdays" };

static struct rules_speech speeches[LANGUAGES_MAX];

/* A pattern is in quotes if blanks at its ends count. */
static char *read_pattern(const char *from, const char *end)
{
	bool is_quoted = end - from >= 2 && *from == '"' && end[-1] == '"';

	return memory_copy(is_quoted ? BYTES(from + 1, (size_t)(end - from) - 2) : BYTES(from, (size_t)(end - from)));
}

static void read_line(struct rules_speech *speech, const char *line, const char *end)
{
	for (int key = 0; key < SPEECH_KEYS; key++) {
		size_t len = strlen(key_names[key]);
		if ((size_t)(end - line) > len + 2 && memcmp(line, key_names[key], len) == 0 && line[len] == ':') {
			speech->patterns[key] = read_pattern(line + len + 2, end);
			return;
		}
	}
	if (line < end && *line != '#')
		die("the sentences of %s: no such key: %.*s", speech->language, (int)(end - line), line);
}

static void read_speech(struct rules_speech *speech, const struct text_resource *source)
{
	speech->language = source->language;
	for (const char *at = (const char *)source->text; *at;) {
		const char *end = at + strcspn(at, "\n");
		read_line(speech, at, end);
		at = *end ? end + 1 : end;
	}
	for (int key = 0; key < SPEECH_KEYS; key++)
		if (!speech->patterns[key])
			die("the sentences of %s: \"%s\" is missing", speech->language, key_names[key]);
}

const struct rules_speech *rules_speech_for(const char *locale)
{
	for (int i = 0; sentence_texts[i].language && i < LANGUAGES_MAX; i++) {
		if (!locale_same_language(sentence_texts[i].language, locale))
			continue;
		if (!speeches[i].language)
			read_speech(&speeches[i], &sentence_texts[i]);
		return &speeches[i];
	}
	return strcmp(locale, "en") == 0 ? NULL : rules_speech_for("en");
}

const char *speech_words(const struct rules_speech *speech, enum speech_key key)
{
	return speech->patterns[key];
}

void speech_fill(const char *pattern, const struct speech_value *values, struct buffer *ret)
{
	while (*pattern) {
		size_t plain = strcspn(pattern, "{");
		buffer_add(ret, pattern, plain);
		pattern += plain;
		if (!*pattern)
			return;
		size_t len = strcspn(pattern, "}") - 1;
		const struct speech_value *value = values;
		while (value->name && (strlen(value->name) != len || memcmp(value->name, pattern + 1, len) != 0))
			value++;
		if (!value->name)
			die("the sentences of the rules: no value has the name that begins %.40s", pattern);
		buffer_add_text(ret, value->text);
		pattern += len + 2;
	}
}

/* The words for a category in `one "# hour", other "# hours"`; NULL: the forms have none. */
static const char *words_of(const char *forms, const char *category, size_t *ret_len)
{
	for (const char *at = forms; *at;) {
		size_t name = strcspn(at, " "), words = strcspn(at + name + 2, "\"");
		if (strlen(category) == name && memcmp(at, category, name) == 0) {
			*ret_len = words;
			return at + name + 2;
		}
		at += name + 2 + words + 1;
		at += strspn(at, ", ");
	}
	return NULL;
}

void speech_count(const struct rules_speech *speech, enum speech_key key, int64_t count, struct buffer *ret)
{
	size_t len;
	const char *forms = speech->patterns[key];
	const char *words = words_of(forms, locale_plural((uint64_t)count, speech->language), &len);

	if (!words)
		words = words_of(forms, "other", &len);
	if (!words)
		die("the sentences of %s: \"%s\" has no words for \"other\"", speech->language, key_names[key]);
	const char *number = memchr(words, '#', len);
	if (!number) {
		buffer_add(ret, words, len);
		return;
	}
	buffer_printf(ret, "%.*s%" PRId64, (int)(number - words), words, count);
	buffer_add(ret, number + 1, len - (size_t)(number - words) - 1);
}
