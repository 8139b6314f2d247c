/* post.h: one HTTP POST to the gateway of this machine */
#ifndef CARTBUS_CORE_POST_H
#define CARTBUS_CORE_POST_H

#include "bus/base/bytes.h"

struct post {
	const char *host, *port, *path;
	const char *
		headers; /* whole lines, each with CRLF, the body's Content-Type among them; Host, Content-Length and Connection are added */
	struct bytes body;
};

/*
 * Waits at most 10 s. Returns the HTTP status, or a negative errno: -EPROTO if the answer is not HTTP, -EMSGSIZE if it has more than 1 MB.
 * The answer's body goes to `ret`.
 */
int post_send(const struct post *post, struct buffer *ret);

#endif
