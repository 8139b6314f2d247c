/*
 * breaker.h: a host that failed several times in a row is left alone for a while
 *
 * After the pause one request may try the host; the pause continues until a request is answered. Every answer
 * except 429 and 5xx counts as answered.
 */
#ifndef KIT_HTTP_BREAKER_H
#define KIT_HTTP_BREAKER_H

#include "services/kit/http/http.h"

struct http_breaker;

/* failures 0: lets every request through */
struct http_breaker *http_breaker_new(int failures, int64_t pause_us);
void http_breaker_free(struct http_breaker *breaker); /* Takes NULL */
/* May a request go to this host now? false: not now; ret_why gives the reason. */
bool http_breaker_lets(struct http_breaker *breaker, const char *url, int64_t now_us, char ret_why[160]);
void http_breaker_note(struct http_breaker *breaker, const char *url, const struct http_answer *answer, int64_t now_us);

#endif
