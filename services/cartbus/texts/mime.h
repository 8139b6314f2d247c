/*
 * mime.h: takes a mail of ours apart again, for people to look at
 *
 * It is for mails that kit/mail/compose.h wrote. Other people's mails are read by mailin.
 */
#ifndef CARTBUS_TEXTS_MIME_H
#define CARTBUS_TEXTS_MIME_H

#include "bus/base/bytes.h"

int mime_part(struct bytes mime, const char *type,
	struct buffer *ret); /* the first of the type, decoded, appended; -ENOENT */
int mime_header(struct bytes mime, const char *name, char *ret, size_t room); /* unfolded, decoded; -ENOENT */

#endif
