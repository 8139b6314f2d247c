/* screen.h: takes over the terminal for a while */
#ifndef CARTBUS_WATCH_SCREEN_H
#define CARTBUS_WATCH_SCREEN_H

#include "services/cartbus/watch/screen_buffer.h"
#include <stdbool.h>

/*
 * Takes over the terminal. -ENOTTY: the terminal in TERM is unknown. It uses colours unless NO_COLOR is set
 * or the terminal has none.
 */
int screen_open(void);
void screen_close(void); /* restores the terminal; harmless if it is not open */
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
int screen_key(void); /* a character or an enum screen_key; does not wait */

#endif
