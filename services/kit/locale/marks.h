/*
 * marks.h: characters that say nothing and change how a line reads, in what strangers wrote
 */
#ifndef KIT_LOCALE_MARKS_H
#define KIT_LOCALE_MARKS_H

#include <stdbool.h>
#include <unicode/umachine.h>

/* C0, C1, DEL, and the separators of lines and paragraphs. */
static inline bool text_is_control(UChar32 c)
{
	return c < ' ' || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
}

/* Marks, embeddings, overrides and isolates: a title could turn the line it stands in around. Joiners of emoji are none. */
static inline bool text_is_direction_mark(UChar32 c)
{
	return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
		(c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

#endif
