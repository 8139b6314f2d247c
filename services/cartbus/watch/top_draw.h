/* top_draw.h: draws the figures of `cartbus top` into a screen buffer */
#ifndef CARTBUS_WATCH_TOP_DRAW_H
#define CARTBUS_WATCH_TOP_DRAW_H

#include "services/cartbus/watch/screen_buffer.h"
#include "services/cartbus/watch/top_figures.h"

struct top_banner {
	const char *away;  /* why the broker does not answer; NULL: it does */
	int64_t since_us;  /* how long that has been so */
	bool is_frozen;    /* no new look until a key is pressed */
	double interval_s; /* 0: it is drawn only once */
	enum top_order order;
	int first_process; /* index of the first shown process */
};

/* Draws the whole buffer. `figures` NULL: the broker never answered. */
void top_draw(struct screen_buffer *screen_buffer, const struct top_figures *figures, const struct top_banner *banner);
/* The number of rows that shows everything. */
int top_draw_height(const struct top_figures *figures, int width);
/* Draws the first line, and the keys in the last line. */
void top_draw_frame(struct screen_buffer *screen_buffer, const struct top_figures *figures,
	const struct top_banner *banner, const char *keys);
void top_draw_help(struct screen_buffer *screen_buffer);

#endif
