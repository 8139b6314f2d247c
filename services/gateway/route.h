/*
 * route.h: what a method and a path mean
 */
#ifndef GATEWAY_ROUTE_H
#define GATEWAY_ROUTE_H

#include "bus/base/bytes.h"

enum door {
	DOOR_SHOPIFY,     /* POST /hooks/<shop>/shopify */
	DOOR_WOOCOMMERCE, /* POST /hooks/<shop>/woocommerce */
	DOOR_GENERIC,     /* POST /hooks/<shop>/cart */
	DOOR_PAGE,        /* GET, HEAD /u/<token>: shows, changes nothing */
	DOOR_OPTOUT,      /* POST /u/<token> */
	DOOR_HEALTH,      /* GET, HEAD /healthz */
	DOOR_UNKNOWN,     /* 404 */
	DOOR_WRONG_METHOD /* 405; allow says what goes */
};

struct route {
	enum door door;
	char name[400];    /* the shop, or the token */
	const char *allow; /* of DOOR_WRONG_METHOD */
};

/* The path as it came, not unescaped: nothing of ours needs escapes, so one with `%` is unknown. */
struct route route_find(const char *method, const char *path);

#endif
