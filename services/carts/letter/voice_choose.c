/*
 * voice_choose.c: chooses the words for a shopper: the owner's (documents of the kind "voice"), or the
 * built-in ones
 *
 * Owns:      the built-in voices, parsed once.
 * Promises:  every shopper gets some words; the owner's come before the built-in ones, the shopper's language
 *            before the shop's.
 * Fails by:  die() if a built-in voice does not parse; a test reads all of them.
 * Read next: voices/en.txt, docs.c (the owner's words as a service has folded them)
 */
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include "services/kit/documents/docs.h"
#include "services/kit/shop/shop.h"
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

/*
 * The kind of documents "voice": voice.txt, and voice.<language>.txt of further languages
 *
 * Promises:  a blank voice is valid; it means the built-in one.
 */

static void *parse_voice(const struct document_text *text, const char *with)
{
	struct text_error error;
	struct voice *voice = NULL;

	(void)with;
	return voice_is_own(text->text) && voice_parse(text->text, &voice, &error) == 0 ? voice : NULL;
}

static void free_voice(void *voice)
{
	voice_free(voice);
}

/* While shop.conf is wrong, the shop's hosts are unknown. Then links are judged when shop.conf is mended. */
static void judge_voice(const struct document_text *text, struct document_opinion *ret)
{
	bool is_blank = text->text[strspn(text->text, " \t\r\n")] == '\0';
	struct text_error error = { 0 };
	struct voice *voice = NULL;

	if (is_blank)
		return;
	if (voice_parse(text->text, &voice, &error) < 0 ||
		(text->conf_is_right && voice_check_links(voice, text->conf, &error) < 0)) {
		ret->line = error.line;
		ret->column = error.column;
		TEXT_COPY(ret->wrong, error.text);
	}
	voice_free(voice);
}

static const char *google_id(const struct shop *conf)
{
	return conf->google.voice;
}

const struct document_kind voice_document = { .name = "voice",
	.ending = ".txt",
	.bytes_max = 32767,
	.further_max = LOCALE_ROOM - 1,
	.is_optional = true,
	.without = "the shop has none",
	.reading = { parse_voice, free_voice },
	.judge = judge_voice,
	.may_be_called = voice_kind_valid,
	.google_id = google_id };

bool voice_kind_of_file(const char *file, char ret_kind[VOICE_KIND_ROOM])
{
	return document_kind_has_file(&voice_document, file, ret_kind);
}

/* --- the words of a shop for one shopper, as a service has folded them from `document` --- */

struct finding {
	const struct state *state;
	const char *shop;
};

static const struct voice *find_voice(void *context, const char *kind)
{
	const struct finding *finding = context;

	return docs_read(finding->state, finding->shop, kind, &voice_document.reading, "", NULL);
}

struct speech speech_of(const struct state *state, const char *shop, const char *locale)
{
	const struct shop *configured = docs_shop(state, shop);
	struct finding finding = { .state = state, .shop = shop };
	struct speech speech;

	voice_choose(locale, configured ? configured->locale : "en", find_voice, &finding, &speech);
	return speech;
}
