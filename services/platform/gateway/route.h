/*
 * route.h: what a method and a path mean
 */
#ifndef PLATFORM_GATEWAY_ROUTE_H
#define PLATFORM_GATEWAY_ROUTE_H

#include "bus/base/bytes.h"

enum entrance {
	ENTRANCE_SHOPIFY,     /* POST /hooks/<shop>/shopify */
	ENTRANCE_WOOCOMMERCE, /* POST /hooks/<shop>/woocommerce */
	ENTRANCE_GENERIC,     /* POST /hooks/<shop>/cart */
	ENTRANCE_BIGCOMMERCE, /* POST /hooks/<shop>/bigcommerce */
	ENTRANCE_PAGE,        /* GET, HEAD /u/<token>: shows, changes nothing */
	ENTRANCE_OPTOUT,      /* POST /u/<token> */
	ENTRANCE_ACTION_PAGE, /* GET, HEAD /a/<token>: the owner's link; shows, changes nothing */
	ENTRANCE_ACTION,      /* POST /a/<token> */
	ENTRANCE_RETURN,      /* GET, HEAD /r/<token>?to=<URL>: leads there, and is counted */
	ENTRANCE_FEEDBACK,    /* POST /feedback/<shop>/sns */
	ENTRANCE_HEALTH,      /* GET, HEAD /healthz */
	ENTRANCE_UNKNOWN,     /* 404 */
	ENTRANCE_WRONG_METHOD /* 405; allow says what goes */
};

struct route {
	enum entrance entrance;
	char name[400];    /* the shop, or the token */
	const char *allow; /* of ENTRANCE_WRONG_METHOD */
};

/* The path as it came, not unescaped: nothing of ours needs escapes, so one with `%` is unknown. */
struct route route_find(const char *method, const char *path);

#endif
