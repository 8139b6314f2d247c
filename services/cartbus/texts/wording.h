/*
 * wording.h: the words of a mail as the owner's files have them now, published or not
 */
#ifndef CARTBUS_TEXTS_WORDING_H
#define CARTBUS_TEXTS_WORDING_H

#include "services/cartbus/core/command.h"
#include "services/carts/letter/voice.h"

struct wording {
	struct speech speech;
	struct voice *parsed; /* what the speech borrows from; NULL: built in */
};

/* As a shopper with this locale ("": unknown) would get them. `file`: a voice that is not published, instead; or NULL. Complains. */
int wording_choose(const struct command *command, const struct shop *shop, const char *locale, const char *file,
	struct wording *ret);
void wording_end(struct wording *wording);

#endif
