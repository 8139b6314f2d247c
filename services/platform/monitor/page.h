/*
 * page.h: GET /metrics
 */
#ifndef PLATFORM_MONITOR_PAGE_H
#define PLATFORM_MONITOR_PAGE_H

#include "bus/actor/process.h"

typedef void page_fn(struct buffer *to);

/*
 * Serves the page at [monitor] listen and port; port 0: nowhere. die()s if that is no address. An address in
 * use is tried again.
 */
void page_start(struct loop *loop, const struct config *config, const struct clock *clock, page_fn *write);
void page_stop(void);
uint64_t page_turned_away(void); /* connections that were refused since the start */
void page_tell_turned_away(struct metrics_sink *told);

#endif
