/*
 * screen.h: a terminal, owned for a while
 */
#ifndef CARTBUS_WATCH_SCREEN_H
#define CARTBUS_WATCH_SCREEN_H

#include "services/cartbus/watch/screen_buffer.h"
#include <stdbool.h>

/* -ENOTTY: TERM names no terminal that is known. In colour, unless NO_COLOR is set or it knows none. */
int screen_open(void);
void screen_close(void); /* as it was before; harmless when it is not open */
void screen_size(int *ret_width, int *ret_height);
void screen_show(const struct screen_buffer *screen_buffer);

enum screen_key {
	KEY_OF_NONE = -1, /* nothing was typed */
	KEY_OF_UP = 0x100,
	KEY_OF_DOWN,
	KEY_OF_PAGE_UP,
	KEY_OF_PAGE_DOWN,
	KEY_OF_ENTER,
	KEY_OF_ESCAPE,
	KEY_OF_RESIZE
};
int screen_key(void); /* a character, or one of these; does not wait */

#endif
