/* guard.h: decides which addresses a request may reach */
#ifndef KIT_HTTP_GUARD_H
#define KIT_HTTP_GUARD_H

#include "services/kit/http/http.h"
#include <sys/socket.h>

/* To be asked right before connecting; `is_plain`: without TLS. */
bool http_address_allowed(enum http_reach reach, bool is_plain, const struct sockaddr *address);
/* -EINVAL: the URL is not allowed; ret_why gives the reason. ret_plain: the scheme is http. */
int http_url_allowed(enum http_reach reach, const char *url, bool *ret_plain, char ret_why[160]);

#endif
