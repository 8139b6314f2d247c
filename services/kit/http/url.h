/*
 * url.h: where a URL leads
 *
 * For those who judge URLs and fetch none: what fetches asks libcurl (guard.h), which brings two dozen libraries along, and
 * half a megabyte in each process.
 */
#ifndef KIT_HTTP_URL_H
#define KIT_HTTP_URL_H

#include <stdbool.h>

enum { URL_HOST_ROOM = 256 };

/*
 * The host of an http or https URL (RFC 3986, section 3.2.2) in small letters, without a final dot; an IPv6 address in its brackets.
 * False, and "": there is none, its port is none, or its authority holds what one reader may take otherwise than another: a user's
 * name, a blank, a backslash, an escape.
 */
bool url_host(const char *url, char ret[URL_HOST_ROOM]);

/* May it stand in a mail or a header as it is? https with something behind it, UTF-8, and nothing that ends an attribute or hides what follows. */
bool url_is_clean(const char *url);

#endif
