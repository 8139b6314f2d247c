/*
 * request.h: one HTTP request as its handler sees it, and its answer: plain data, no sockets
 */
#ifndef KIT_WEB_REQUEST_H
#define KIT_WEB_REQUEST_H

#include "bus/base/bytes.h"

enum { HEADERS_MAX = 64, PARTS_MOST = 1000, ANSWER_ADDED_MAX = 24, ANSWER_FIELDS_MAX = 48 };

struct http_header {
	const char *name, *value;
};

struct request {
	const char *method, *path; /* the path as it came, without the query */
	char *query;               /* behind the `?`, as it came; NULL: none */
	int minor_version;         /* of HTTP/1: 0 or 1 */
	const char *to;            /* of the query, decoded; NULL: not given */
	struct http_header headers[HEADERS_MAX];
	int header_count;
	int parts; /* arguments of the query and cookies, at most PARTS_MOST: a library that takes them apart needs room for each */
	struct bytes body;
};

/*
 * Reads a head, which ends with an empty line, strictly by RFC 9112. It refuses a name that is no token, a
 * folded line, a control character, and a bare CR or LF, because two servers read them differently. It splits
 * `text` in place, so the request lives as long as `text`. Returns 0, or the status to answer with and the
 * reason in *ret_why. The framing (request_framing) is part of the check.
 */
unsigned request_parse(char *text, size_t len, struct request *ret, const char **ret_why);
/* The decoded value of a query's argument, the first of that name; NULL: not given. Splits the query in place, so ask once. */
char *request_argument(struct request *request, const char *name);
/*
 * Finds a header; case does not matter. NULL: it is missing. If it is given twice, the first;
 * request_header_repeated tells that.
 */
const char *request_header(const struct request *request, const char *name);
bool request_header_repeated(const struct request *request, const char *name);
/*
 * The value of a cookie, borrowed and without quotes (RFC 6265 section 4.2.1). -ENOENT: there is none of that
 * name. -EBADMSG: there are two, or its value has another character than the RFC allows. Other cookies are not
 * judged: they may belong to another program on this host, because cookies know no port.
 */
int request_cookie(const struct request *request, const char *name, struct bytes *ret);
/*
 * Is the framing unambiguous? NULL: it is; otherwise the reason. Servers read Content-Length with
 * Transfer-Encoding, or either of them twice, in different ways (RFC 9112 section 6.1), so such a request is
 * refused and its connection closed.
 */
const char *request_framing(const struct request *request);

struct answer {
	unsigned status;
	const char *content_type; /* static */
	const char *cache;        /* Cache-Control; static; NULL: no-store */
	const char *allow;        /* of 405; static */
	const char *location;     /* of 302; borrowed from the request */
	struct buffer body;
	/* of 200, from `decide` or web_answer: the answer stays open behind its body, and web_feed adds to it (web.h) */
	bool feed;
	const struct http_header *more; /* further headers, ended by one without a name; static; NULL: none */
	struct http_header added[ANSWER_ADDED_MAX]; /* by answer_add */
	int added_count;
	/* the request was signed, or had a link of ours: its cost does not count against its network */
	bool proven;
};

/*
 * The headers of the answer, except its length, date and connection; returns how many. Borrowed from the
 * answer. Those of `more` that do not fit are left out: there is room for 16 beside all that are added.
 */
int answer_fields(const struct answer *answer, struct http_header ret[ANSWER_FIELDS_MAX]);
/*
 * Adds a header; a name may be added more than once (Set-Cookie). Both texts are borrowed until the answer is
 * sent; they may belong to the request. More than ANSWER_ADDED_MAX is a bug.
 */
void answer_add(struct answer *answer, const char *name, const char *value);
void answer_json_error(struct answer *answer, unsigned status, const char *words);
void answer_json_line(struct answer *answer, const char *name, const char *words); /* 200 {"name":"words"} */

#endif
