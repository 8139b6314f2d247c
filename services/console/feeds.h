/* feeds.h: live values for pages that are open, as server-sent events */
#ifndef CONSOLE_FEEDS_H
#define CONSOLE_FEEDS_H

#include "services/console/visit.h"

/* The most open at once, of one network and in all. */
enum { FEEDS_EACH = 24, FEEDS_ALL = 64, FEED_BYTES = 256 * 1024 };

bool feeds_begin(struct visit *visit); /* answers a visit whose page may be read: true */
void feeds_leave(struct visit *visit); /* the client is gone */
/* Sends what has changed. Returns after how many us to call again; -1: no feed is open. */
int64_t feeds_work(struct console *console);
void feeds_end(struct console *console); /* the console stops: browsers connect again by themselves */

#endif
