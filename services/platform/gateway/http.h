/* http.h: the gateway at the internet */
#ifndef PLATFORM_GATEWAY_HTTP_H
#define PLATFORM_GATEWAY_HTTP_H

#include "bus/actor/process.h"

/* For struct process. die()s with a remedy when the address cannot be had, or keys and spool cannot be read. */
void http_start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock);
/* Nobody new is let in; who is, has his request answered, and then his connection ends. */
void http_leave(void);
bool http_left(void);
void http_stop(void);

#endif
