/*
 * polish.h: a model improves the opening line of a reminder
 *
 * The model gets the owner's line, the language, the shop's name and the items' titles. It gets no address,
 * and "{first name}" instead of the shopper's name, which is put back afterwards. Its answer is used only if
 * it adds nothing (model_line_fault); otherwise the owner's own line is used. Whether the mail is sent was
 * decided before, and is checked again afterwards.
 */
#ifndef CARTS_LETTER_POLISH_H
#define CARTS_LETTER_POLISH_H

#include "services/carts/letter/reminder.h"
#include "services/kit/model/model.h"

#define POLISH_MODEL "opening" /* the name of these questions: [model opening] */

enum { POLISHED_MAX = 4 * MODEL_LINE_MAX + 256 };

/* false: this voice has no opening line. The caller clears *ret. */
bool polish_ask(const struct reminder *reminder, struct model_request *ret);
/*
 * NULL: ret_line replaces the line. Otherwise the reason why it does not, in a few words, which may come from
 * the answer.
 */
const char *polish_take(
	const struct reminder *reminder, const struct model_answer *answer, char ret_line[POLISHED_MAX]);

#endif
