/*
 * owner_text.h: what the owner writes (shop.conf, rules, voices), before anybody parses it
 *
 * Every process and command takes the same bytes for a text. `bytes_max` is that of its kind (kinds.h).
 */
#ifndef KIT_DOCUMENTS_OWNER_TEXT_H
#define KIT_DOCUMENTS_OWNER_TEXT_H

#include "bus/base/bytes.h"

enum { OWNER_TEXT_WHY = 120 };

/* false: ret_why says what it is instead: "is not a text in UTF-8". */
bool owner_text_valid(struct bytes text, size_t bytes_max, char ret_why[OWNER_TEXT_WHY]);
/* "is longer than 32 KB: it has 40000 bytes, and 32767 is most" */
void owner_text_too_long(uint64_t bytes, size_t bytes_max, char ret_why[OWNER_TEXT_WHY]);
/*
 * The same of a file that was longer when it was read (-EFBIG). It may have become shorter since, or have no size (a device): then the
 * words say one byte more than the bound.
 */
void owner_text_file_too_long(const char *path, size_t bytes_max, char ret_why[OWNER_TEXT_WHY]);
/*
 * Appends the file's text. A negative errno, -ENOENT among them, comes with what to say behind the path: "cannot be read: Permission
 * denied".
 */
int owner_text_read(const char *path, size_t bytes_max, struct buffer *ret, char ret_why[OWNER_TEXT_WHY]);

#endif
