/* guard.h: decides which addresses a request may reach */
#ifndef KIT_HTTP_GUARD_H
#define KIT_HTTP_GUARD_H

#include "services/kit/http/http.h"
#include <sys/socket.h>

/*
 * Is this an address of the public internet, by its bits? Not: this machine, private, shared, link-local, site-local and unique
 * local nets, documentation, benchmarks, multicast, reserved; nor IPv6 forms that hold such an IPv4 address (mapped, compatible,
 * NAT64 64:ff9b::/96, 6to4 2002::/16, Teredo).
 */
bool http_address_is_public(const struct sockaddr *address);
/* To be asked right before connecting; `is_plain`: without TLS. */
bool http_address_allowed(enum http_reach reach, bool is_plain, const struct sockaddr *address);
/* -EINVAL: the URL is not allowed; ret_why gives the reason. ret_plain: the scheme is http. */
int http_url_allowed(enum http_reach reach, const char *url, bool *ret_plain, char ret_why[160]);

#endif
