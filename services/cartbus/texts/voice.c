/*
 * voice.c: `cartbus voice check` and `voice show`: the words of mails, before they are published
 *
 * Promises: judges with the parser that the processes use, and says line, column and what was expected.
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/texts/subcommands.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "services/carts/letter/voice.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/template/template.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void print_wrong(const struct command *command, const char *path, const struct text_error *error)
{
	if (command->json) {
		json_t *whole = json_pack("{s:b,s:i,s:i,s:s}", "right", 0, "line", error->line, "column", error->column,
			"expected", json_expected(error->text, error->line, error->column));
		json_print(whole);
		json_decref(whole);
	}
	complain(command, "%s: %s", path, error->text);
}

static int check_name(const struct command *command, const char *path)
{
	const char *name = strrchr(path, '/');
	char kind[VOICE_KIND_ROOM], why[160];

	name = name ? name + 1 : path;
	if (!voice_kind_of_file(name, kind) || voice_kind_valid(kind, why))
		return EXIT_FINE;
	complain(command, "%s: %s", path, why);
	return EXIT_NO;
}

static int check(const struct command *command, const char *path)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct text_error error = { 0 };
	struct voice *voice = NULL;
	static struct shop shop; /* large */
	char why[OWNER_TEXT_WHY];

	if (owner_text_read(path, voice_document.bytes_max, &text, why)) {
		complain(command, "%s %s", path, why);
		return EXIT_NO;
	}
	int failed = voice_parse(buffer_text(&text), &voice, &error);
	if (!failed && command_shop_beside(path, &shop))
		failed = voice_check_links(voice, &shop, &error);
	voice_free(voice);
	if (failed) {
		print_wrong(command, path, &error);
		return EXIT_NO;
	}
	if (check_name(command, path))
		return EXIT_NO;
	puts(command->json ? "{\"right\":true}"
			   : "right; `cartbus preview SHOP --voice FILE` shows what it looks like");
	return EXIT_FINE;
}

int command_voice_check(struct command *command, int argc, char **argv)
{
	const char *file;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "FILE",
			.words = &file,
			.words_least = 1,
			.words_most = 1,
			.no_config = true,
			.needs_no_home = true,
			.help = "Reads the words of reminders as the system would, and says whether they are right, or "
				"the line, the column and what was expected. Where links may lead is judged by the "
				"shop.conf beside it. The language is described in voice.md (in "
				"/usr/share/doc/cartbus, or in services/carts/letter of the sources).\v"
				"Example:\n  cartbus voice check /etc/cartbus/shops/demo/voice.de.txt" });
	return check(command, file);
}

int command_voice_show(struct command *command, int argc, char **argv)
{
	const char *language = "en";

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "LANGUAGE",
			.words = &language,
			.words_least = 1,
			.words_most = 1,
			.no_config = true,
			.needs_no_home = true,
			.help = "Prints the built-in words of reminders in a language (ar, de, en, es, fr, hi, it, ja, "
				"nl, pt), to begin one's own with.\v"
				"Example:\n  cartbus voice show fr > /etc/cartbus/shops/demo/voice.fr.txt" });
	const char *text = voice_builtin_text(language);
	if (text && command->json) {
		json_t *whole = json_pack("{s:s,s:s}", "language", language, "text", text);

		json_print(whole);
		json_decref(whole);
	} else if (text) {
		fputs(text, stdout);
	}
	if (text)
		return EXIT_FINE;
	complain(command, "there are no built-in words in \"%s\"; see --help for those there are", language);
	return EXIT_NO;
}
