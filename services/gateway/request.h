/*
 * request.h: one HTTP request as the rest of the gateway sees it, and its answer: plain data, no sockets
 */
#ifndef GATEWAY_REQUEST_H
#define GATEWAY_REQUEST_H

#include "bus/base/bytes.h"

enum { HEADERS_MAX = 64 };

struct http_header {
	const char *name, *value;
};

struct request {
	const char *method, *path;
	const char *to; /* of the query, decoded; NULL: not given */
	struct http_header headers[HEADERS_MAX];
	int header_count;
	struct bytes body;
};

/* Any case; NULL: not given. Of one that is given twice the first; request_header_repeated tells. */
const char *request_header(const struct request *request, const char *name);
bool request_header_repeated(const struct request *request, const char *name);
/*
 * Is its framing beyond doubt? NULL: it is; else why not. Content-Length with Transfer-Encoding, or either of them twice, reads
 * differently to different servers (RFC 9112 section 6.1): such a request is refused and its connection closed.
 */
const char *request_framing(const struct request *request);

struct answer {
	unsigned status;
	const char *content_type; /* static */
	const char *allow;        /* of 405; static */
	const char *location;     /* of 302; borrowed from the request */
	struct buffer body;
	bool close;
};

void answer_json_error(struct answer *answer, unsigned status, const char *words);
void answer_json_line(struct answer *answer, const char *name, const char *words); /* 200 {"name":"words"} */

#endif
