/*
 * mime.h: takes a mail of ours apart again, for people to look at
 *
 * Knows what carts/letter/reminder.h and kit/mail/message.h compose: two parts in quoted-printable, encoded words in UTF-8. Not a reader of other people's mail.
 */
#ifndef CARTBUS_TEXTS_MIME_H
#define CARTBUS_TEXTS_MIME_H

#include "bus/base/bytes.h"

int mime_part(struct bytes mime, const char *type, struct buffer *ret);       /* decoded, appended; -ENOENT */
int mime_header(struct bytes mime, const char *name, char *ret, size_t room); /* unfolded, decoded; -ENOENT */

#endif
