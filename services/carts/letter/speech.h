/*
 * speech.h: the words of a shop for one shopper, as a service has folded them from `document`
 */
#ifndef CARTS_LETTER_SPEECH_H
#define CARTS_LETTER_SPEECH_H

#include "bus/actor/state.h"
#include "services/carts/letter/voice.h"

/*
 * `locale`: the shopper's, as the storefront said it; "": it did not. The built-in words where the owner gave none. Borrowed until a
 * newer document of the shop is read.
 */
struct speech speech_of(const struct state *state, const char *shop, const char *locale);

#endif
