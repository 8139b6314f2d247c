/*
 * voice_choose.c: which words a shopper gets, and the words of shops whose owners wrote none
 *
 * Owns:      the built-in voices, parsed once.
 * Promises:  everybody gets some words; the owner's go before ours, the shopper's language before the shop's.
 * Fails by:  die() on a built-in voice that does not parse: a test reads all of them.
 * Read next: voices/en.txt, docs.c (the owner's words as a service has folded them)
 */
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include <stdio.h>

enum { BUILTIN_MAX = 32 };

static int builtin_index(const char *language)
{
	for (int i = 0; voice_texts[i].language; i++)
		if (locale_same_language(voice_texts[i].language, language))
			return i;
	return -1;
}

const char *voice_builtin_text(const char *language)
{
	int index = builtin_index(language);

	return index < 0 ? NULL : (const char *)voice_texts[index].text;
}

const struct voice *voice_builtin(const char *language)
{
	static struct voice *parsed[BUILTIN_MAX];
	struct text_error error;
	int index = builtin_index(language);

	if (index < 0 || index >= BUILTIN_MAX)
		return NULL;
	if (!parsed[index] && voice_parse((const char *)voice_texts[index].text, &parsed[index], &error) < 0)
		die("the built-in voice %s: %s", voice_texts[index].language, error.text);
	return parsed[index];
}

bool voice_is_own(const char *text)
{
	if (text[strspn(text, " \t\r\n")] == '\0')
		return false;
	for (int i = 0; voice_texts[i].language; i++)
		if (strcmp((const char *)voice_texts[i].text, text) == 0)
			return false;
	return true;
}

static bool speak(struct speech *speech, const struct voice *voice, const char *language, const char *kind)
{
	if (!voice)
		return false;
	speech->voice = voice;
	TEXT_COPY(speech->language, language);
	TEXT_COPY(speech->kind, kind);
	return true;
}

/* "voice.pt-BR", then "voice.pt". */
static bool choose_language(const char *tag, voice_find_fn *find, void *context, struct speech *ret)
{
	char wider[LOCALE_ROOM], kind[VOICE_KIND_ROOM];

	TEXT_COPY(wider, tag);
	do {
		snprintf(kind, sizeof(kind), "voice.%s", wider);
		if (speak(ret, find(context, kind), wider, kind))
			return true;
	} while (locale_widen(wider));
	return false;
}

static bool choose_builtin(const char *tag, struct speech *ret)
{
	int index = builtin_index(tag);

	return index >= 0 && speak(ret, voice_builtin(tag), voice_texts[index].language, "");
}

void voice_choose(const char *locale, const char *shops_locale, voice_find_fn *find, void *context, struct speech *ret)
{
	char shopper[LOCALE_ROOM];

	*ret = (struct speech){ 0 };
	locale_canonical(locale, shopper);
	if (!shopper[0])
		TEXT_COPY(shopper, shops_locale);
	if (choose_language(shopper, find, context, ret) || speak(ret, find(context, "voice"), shops_locale, "voice") ||
		choose_builtin(shopper, ret) || choose_builtin(shops_locale, ret))
		return;
	choose_builtin("en", ret);
}

bool voice_kind_valid(const char *kind, char ret_why[160])
{
	char tag[LOCALE_ROOM];

	if (strcmp(kind, "voice") == 0)
		return true;
	const char *given = kind + strlen("voice.");
	locale_canonical(given, tag);
	if (strcmp(given, tag) == 0)
		return true;
	if (tag[0])
		snprintf(ret_why, 160, "write the language as it is spelled: voice.%s.txt", tag);
	else
		snprintf(ret_why, 160, "\"%s\" is no language: expected a file like voice.de.txt or voice.pt-BR.txt",
			given);
	return false;
}
