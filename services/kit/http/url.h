/*
 * url.h: the host of a URL, and whether a URL may be shown
 *
 * For code that checks URLs but fetches none. Code that fetches asks libcurl (guard.h), which loads two dozen
 * libraries and half a megabyte into each process.
 */
#ifndef KIT_HTTP_URL_H
#define KIT_HTTP_URL_H

#include <stdbool.h>

enum { URL_HOST_ROOM = 256 };

/*
 * The host of an http or https URL (RFC 3986, section 3.2.2) in small letters, without a final dot; an IPv6
 * address in its brackets. false, and "": there is no host, the port is invalid, or the authority has
 * something that programs read differently: a user's name, a blank, a backslash, an escape.
 */
bool url_host(const char *url, char ret[URL_HOST_ROOM]);

/*
 * May the URL appear unchanged in a mail or a header? It must be https with something after it, valid UTF-8,
 * and have no character that ends an attribute or hides what follows.
 */
bool url_is_clean(const char *url);

#endif
