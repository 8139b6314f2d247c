/* http.h: the console's HTTP server */
#ifndef CONSOLE_HTTP_H
#define CONSOLE_HTTP_H

#include "bus/actor/process.h"

struct console;

/* die()s if the configuration, the people or the rows of the pages are wrong; checks only, and changes nothing. */
void http_check(const struct config *config);
struct console *http_start(
	struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock);
void http_leave(struct console *console);      /* takes no new connections, and ends the feeds */
bool http_left(const struct console *console); /* everything that was begun is answered */
void http_stop(struct console *console);

#endif
