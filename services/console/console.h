/*
 * console.h: what all parts of the console's process share
 */
#ifndef CONSOLE_CONSOLE_H
#define CONSOLE_CONSOLE_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/config.h"
#include "bus/base/list.h"
#include "services/console/assets.h"
#include "services/console/people/sign_in.h"
#include "services/console/place.h"
#include "services/kit/web/web.h"

enum { CONSOLE_FORM_MOST = 256 * 1024 }; /* bytes of a form: an owner's text fits */

struct console {
	const struct config *config;
	const struct clock *clock;
	struct clock
		real; /* of sessions and links: ten minutes are ten minutes, also in a demo whose time runs faster */
	struct runtime *runtime;
	struct console_place place;
	struct asset_places assets;
	struct web_proxies proxies;
	struct web *web; /* NULL: it does not listen */
	struct people *people;
	struct sessions *sessions;
	struct throttle *throttle;
	struct buffer key;
	struct sign_in sign_in;
	struct list feeds, askings;
	int64_t tend_at_us;    /* boot time */
	int64_t away_since_us; /* wall time since which no broker answers; 0: it does */
};

extern const struct service console_service;

/* When a form that this name was given to has been carried out: the number of its message. 0: it never was, as far as is known here. */
uint64_t console_done(const struct state *state, const char *once);

#endif
