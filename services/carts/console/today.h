/* today.h: a shop's first page: what was won, what comes next, what needs a hand */
#ifndef CARTS_CONSOLE_TODAY_H
#define CARTS_CONSOLE_TODAY_H

#include "services/carts/console/show.h"

enum { TODAY_DAYS = 28, TODAY_NEXT = 10 };

/*
 * Fills {"shop", "title", "mode", "won", "figures", "next", "next_count", "next_more", "hand", "since_us"}. The figures are of the last
 * TODAY_DAYS days, today included, each beside that of the TODAY_DAYS days before. It reads one row for each of these days and
 * currency, and at most a few hundred timers: next_more tells that there are more.
 */
void today_show(const struct page_asked *asked, const char *title, json_t *ret);

#endif
