/*
 * breaker.h: a host that failed several times in a row is left alone for a while
 *
 * Then one request is let through to try it; the pause goes on until one is answered. Answered is everything but 429 and 5xx.
 */
#ifndef KIT_HTTP_BREAKER_H
#define KIT_HTTP_BREAKER_H

#include "services/kit/http/http.h"

struct http_breaker;

struct http_breaker *http_breaker_new(int failures, int64_t pause_us); /* failures 0: lets all through */
void http_breaker_free(struct http_breaker *breaker);                  /* Takes NULL */
/* false: not now; ret_why says so. */
bool http_breaker_lets(struct http_breaker *breaker, const char *url, int64_t now_us, char ret_why[160]);
void http_breaker_note(struct http_breaker *breaker, const char *url, const struct http_answer *answer, int64_t now_us);

#endif
