/*
 * dead_letters.h: which dead letters are meant, a dead letter in words, and many of them handed out once more
 */
#ifndef CARTBUS_RECOVER_DEAD_LETTERS_H
#define CARTBUS_RECOVER_DEAD_LETTERS_H

#include "bus/actor/client.h"
#include "bus/base/bytes.h"
#include "services/cartbus/core/command.h"
#include <jansson.h>

/* Appends lines; `dead_letter` is what the broker answers to "dead.show". Times are its shop's, addresses are masked. */
void dead_letter_words(const struct command *command, const json_t *dead_letter, struct buffer *ret);

enum { DEAD_LETTER_WORDS_ROOM = 400 };
/* A text of a letter as one line that moves nobody's cursor: services repeat what somebody outside said. */
const char *dead_letter_text(const json_t *dead_letter, const char *name, char ret[DEAD_LETTER_WORDS_ROOM]);

/* ---- which are meant ---- */

struct dead_letter_filter { /* NULL: any */
	const char *topic, *shop, *reason, *older, *younger;
};

#define DEAD_LETTER_FILTER_TAKES(filter)                                                                               \
	{ "topic", "NAME", "only of this topic", &(filter).topic, NULL },                                              \
		{ "shop", "NAME", "only of this shop", &(filter).shop, NULL },                                         \
		{ "reason-has", "TEXT", "only those whose reason has this in it", &(filter).reason, NULL },            \
		{ "older-than", "AGE", "only those that died longer ago (45s, 30min, 6h, 2d)", &(filter).older,        \
			NULL },                                                                                        \
	{                                                                                                              \
		"younger-than", "AGE", "only those that died since", &(filter).younger, NULL                           \
	}

bool dead_letter_filter_is_given(const struct dead_letter_filter *filter);
/* Adds it to a question; complains and returns EXIT_USAGE when an age is none. */
int dead_letter_filter_add(const struct command *command, const struct dead_letter_filter *filter, json_t *what);

/* Calls each() for every dead letter that the question means, page by page; takes the question. An exit. */
typedef int dead_letter_fn(const json_t *dead_letter, void *context);
int dead_letters_each(
	const struct command *command, struct client *client, json_t *what, dead_letter_fn *each, void *context);

/* --- a redrive of many, or a replay: the broker does it, bit by bit --- */

struct redrive_options {
	const char *rate;
	bool cancel, resume;
};
#define REDRIVE_TAKES(options)                                                                                         \
	{ "rate", "N/s", "so many a second; else as fast as they are taken", &(options).rate, NULL },                  \
		{ "cancel", NULL, "stop the one that runs; what it handed out stays out", NULL, &(options).cancel },   \
	{                                                                                                              \
		"resume", NULL, "go on with the one that was cancelled", NULL, &(options).resume                       \
	}
#define REDRIVE_HELP                                                                                                   \
	"The broker does it, bit by bit, and writes down how far it is: Ctrl-C ends the watching and nothing else, "   \
	"and a restart of the broker makes it go on where it was. --cancel stops it, --resume goes on. One at a time " \
	"per queue."

/* Asks `verb`, which begins one (takes the question), and watches it to its end. An exit. */
int redrive_run(const struct command *command, struct client *client, const char *verb, json_t *what);
/* --cancel or --resume of this queue; an exit. */
int redrive_steer(const struct command *command, const char *queue, const struct redrive_options *options);
/* Adds the rate to a question; complains and returns EXIT_USAGE when it is none. */
int redrive_rate_add(const struct command *command, const struct redrive_options *options, json_t *what);

#endif
