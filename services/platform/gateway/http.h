/* http.h: the gateway's HTTP server */
#ifndef PLATFORM_GATEWAY_HTTP_H
#define PLATFORM_GATEWAY_HTTP_H

#include "bus/actor/process.h"

struct http;

/*
 * Listens and serves in this loop from now on. die()s with a remedy if the address cannot be bound, or keys
 * or spool cannot be read. The arguments are borrowed until http_stop.
 */
struct http *http_start(
	struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock);
/* Accepts no new connections. Each existing connection gets the answer to its request and then ends. */
void http_leave(struct http *http);
bool http_left(const struct http *http); /* no connection is left */
void http_stop(struct http *http);       /* frees it; neither loop nor runtime may call back after this */

#endif
