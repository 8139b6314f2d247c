/* place.h: where browsers find the console, as [console] public-url says it */
#ifndef CONSOLE_PLACE_H
#define CONSOLE_PLACE_H

#include <stdbool.h>

enum { CONSOLE_ORIGIN_ROOM = 300, CONSOLE_PREFIX_ROOM = 128, CONSOLE_COOKIE_ROOM = 48 };

struct console_place {
	char origin[CONSOLE_ORIGIN_ROOM]; /* "https://cartbus.example", as browsers write it */
	char prefix[CONSOLE_PREFIX_ROOM]; /* of all paths: "" or "/cartbus" */
	char cookie[CONSOLE_COOKIE_ROOM]; /* the name of the session's cookie */
	bool is_secure;                   /* browsers keep a Secure cookie of it: https, or this machine alone */
	bool is_local;                    /* plain http on this machine alone */
	int port;                         /* of `origin` */
	char host[256];                   /* in small letters, IPv6 without brackets */
};

/* -EINVAL: it is no URL of a console: it has no host, or its path has characters that would need an escape. */
int console_place_read(const char *public_url, struct console_place *ret);

struct request;
/*
 * Does the request ask for a name of the console: that of public-url, or of this machine at the port of public-url? 0, and the origin of a
 * page of that name ("http://localhost:8410"); else 400 or 421, and *ret_words.
 */
unsigned console_place_answers(const struct console_place *place, const struct request *request,
	char ret_origin[CONSOLE_ORIGIN_ROOM], const char **ret_words);

#endif
