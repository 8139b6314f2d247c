/*
 * mention.h: does a text name this one, and not another one whose name only holds it?
 */
#ifndef CARTBUS_CORE_MENTION_H
#define CARTBUS_CORE_MENTION_H

#include "bus/base/bytes.h"

#include <stdbool.h>

/*
 * `name` is an address or an id of a storefront. It counts where it stands by itself: "c-1" is not named by "c-10", ada@shop.example
 * not by nada@shop.example or ada@shop.example.org. Of an address upper and lower case are the same.
 */
bool mention_in(struct bytes text, const char *name);
/* Of bytes that are no text, where nobody knows what is beside it: it stands there at all. */
bool mention_somewhere(struct bytes bytes, const char *name);

#endif
