/*
 * wording.c: the words of a mail as the owner's files have them now
 *
 * Promises: chooses as the services do (voice_choose), from the same files that the mirror reads.
 */
#include "services/cartbus/texts/wording.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/documents/kinds.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choosing {
	const struct command *command;
	const struct shop *shop;
	struct wording *wording;
	int failed;
};

/* EXIT_NO: it complained. Not there, or not the owner's own: nothing is read. */
static int read_own(const struct command *command, const struct shop *shop, const char *path, struct voice **ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct text_error error = { 0 };
	char why[OWNER_TEXT_WHY];

	int failed = owner_text_read(path, voice_document.bytes_max, &text, why);
	if (failed && failed != -ENOENT)
		complain(command, "%s %s", path, why);
	if (failed)
		return failed == -ENOENT ? EXIT_FINE : EXIT_NO;
	if (!voice_is_own(buffer_text(&text)) ||
		(voice_parse(buffer_text(&text), ret, &error) == 0 && voice_check_links(*ret, shop, &error) == 0))
		return EXIT_FINE;
	complain(command, "%s: %s", path, error.text);
	return EXIT_NO;
}

static const struct voice *find(void *context, const char *kind)
{
	struct choosing *choosing = context;
	char file[VOICE_KIND_ROOM + 8], path[PATH_ROOM];

	snprintf(file, sizeof(file), "%s.txt", kind);
	command_shop_path(choosing->command, choosing->shop->name, file, path);
	if (choosing->failed == EXIT_FINE)
		choosing->failed = read_own(choosing->command, choosing->shop, path, &choosing->wording->parsed);
	return choosing->wording->parsed;
}

/* The language of a draft: its name's, else the one asked for, else the shop's. */
static void draft_language(const char *path, const char *locale, const struct shop *shop, char ret[LOCALE_ROOM])
{
	const char *name = strrchr(path, '/');
	char kind[VOICE_KIND_ROOM], why[160];

	if (voice_kind_of_file(name ? name + 1 : path, kind) && strcmp(kind, "voice") != 0 &&
		voice_kind_valid(kind, why)) {
		text_copy(ret, LOCALE_ROOM, kind + strlen("voice."));
		return;
	}
	locale_canonical(locale, ret);
	if (!ret[0])
		text_copy(ret, LOCALE_ROOM, shop->locale);
}

static int use_draft(const struct command *command, const struct shop *shop, const char *locale, const char *path,
	struct wording *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct text_error error = { 0 };
	char why[OWNER_TEXT_WHY];

	if (owner_text_read(path, voice_document.bytes_max, &text, why)) {
		complain(command, "%s %s", path, why);
		return EXIT_NO;
	}
	if (voice_parse(buffer_text(&text), &ret->parsed, &error) || voice_check_links(ret->parsed, shop, &error)) {
		complain(command, "%s: %s", path, error.text);
		return EXIT_NO;
	}
	ret->speech.voice = ret->parsed;
	draft_language(path, locale, shop, ret->speech.language);
	TEXT_COPY(ret->speech.kind, "draft");
	return EXIT_FINE;
}

int wording_choose(const struct command *command, const struct shop *shop, const char *locale, const char *file,
	struct wording *ret)
{
	struct choosing choosing = { .command = command, .shop = shop, .wording = ret };

	*ret = (struct wording){ 0 };
	if (file)
		return use_draft(command, shop, locale, file, ret);
	voice_choose(locale, shop->locale, find, &choosing, &ret->speech);
	return choosing.failed;
}

void wording_end(struct wording *wording)
{
	voice_free(wording->parsed);
	wording->parsed = NULL;
}
