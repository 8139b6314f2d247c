/*
 * top_draw.h: the figures of `cartbus top` as a picture
 */
#ifndef CARTBUS_WATCH_TOP_DRAW_H
#define CARTBUS_WATCH_TOP_DRAW_H

#include "services/cartbus/watch/screen_buffer.h"
#include "services/cartbus/watch/top_figures.h"

struct top_banner {
	const char *away;  /* why the broker does not answer; NULL: it does */
	int64_t since_us;  /* how long that has been so */
	bool is_frozen;    /* nobody looks again until a key */
	double interval_s; /* 0: this is the only picture */
	enum top_order order;
	int first_process; /* that is shown, so many down */
};

/* `figures` NULL: the broker was never seen. Draws all over the picture. */
void top_draw(struct screen_buffer *screen_buffer, const struct top_figures *figures, const struct top_banner *banner);
/* The rows that it takes to leave nothing out. */
int top_draw_height(const struct top_figures *figures, int width);
/* The first line, and in the last one what keys there are. */
void top_draw_frame(struct screen_buffer *screen_buffer, const struct top_figures *figures,
	const struct top_banner *banner, const char *keys);
void top_draw_help(struct screen_buffer *screen_buffer);

#endif
