/*
 * polish.h: the opening line of a reminder, said better by a model
 *
 * The model is given the line as the owner's words make it, the language, the shop's name and the items' titles: no address, and in
 * the shopper's name's place "{first name}", which is put back afterwards. What it answers counts only if it adds nothing
 * (model_line_fault); else the owner's own line goes. Whether a mail goes was decided before, and is asked again after.
 */
#ifndef CARTS_LETTER_POLISH_H
#define CARTS_LETTER_POLISH_H

#include "services/carts/letter/reminder.h"
#include "services/kit/model/model.h"

#define POLISH_MODEL "opening" /* the name of these questions: [model opening] */

enum { POLISHED_MAX = 4 * MODEL_LINE_MAX + 256 };

/* false: this voice has no opening line. The caller clears *ret. */
bool polish_ask(const struct reminder *reminder, struct model_request *ret);
/* NULL: ret_line is to stand in the line's place; else why it is not, in a few words that may be the answer's own. */
const char *polish_take(
	const struct reminder *reminder, const struct model_answer *answer, char ret_line[POLISHED_MAX]);

#endif
