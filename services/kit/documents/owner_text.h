/*
 * owner_text.h: what the owner writes (shop.conf, rules, voices), before anybody parses it
 *
 * Every process and command takes the same bytes for a text.
 */
#ifndef KIT_DOCUMENTS_OWNER_TEXT_H
#define KIT_DOCUMENTS_OWNER_TEXT_H

#include "bus/base/bytes.h"

enum { OWNER_TEXT_MAX = 32767 /* bytes: what a Document carries */, OWNER_TEXT_WHY = 100 };

/* NULL: it is one; else what it is instead: "is not a text in UTF-8". */
const char *owner_text_wrong(struct bytes text);
/* Appends. A negative errno, -ENOENT among them, comes with what to say behind the path: "cannot be read: Permission denied". */
int owner_text_read(const char *path, struct buffer *ret, char ret_why[OWNER_TEXT_WHY]);

#endif
