/* letter_words.h: a dead letter in words */
#ifndef CARTBUS_RECOVER_LETTER_WORDS_H
#define CARTBUS_RECOVER_LETTER_WORDS_H

#include "bus/base/bytes.h"
#include "services/cartbus/core/command.h"
#include <jansson.h>

/* Appends lines; `letter` is what the broker answers to "dead.show". Times are its shop's, addresses are masked. */
void letter_words(const struct command *command, const json_t *letter, struct buffer *ret);

enum { LETTER_WORDS_ROOM = 400 };
/* A text of a letter as one line that moves nobody's cursor: services repeat what somebody outside said. */
const char *letter_text(const json_t *letter, const char *name, char ret[LETTER_WORDS_ROOM]);

#endif
