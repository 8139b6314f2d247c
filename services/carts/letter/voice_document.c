/*
 * voice_document.c: the kind of documents "voice": voice.txt, and voice.<language>.txt of further languages
 *
 * Promises:  a blank voice is right; it means the built-in one.
 * Read next: voice.h, services/kit/documents/kinds.h
 */
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include "services/kit/shop/shop.h"

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

/* While shop.conf is wrong, nobody knows where links may lead: that is judged when shop.conf is mended. */
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
