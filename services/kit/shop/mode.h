/*
 * mode.h: what a shop may do (shop.status): the names of its modes, and which status follows another
 */
#ifndef KIT_SHOP_MODE_H
#define KIT_SHOP_MODE_H

#include "platform.pb.h"

/* Of a stop, and of a pause for complaints: a slip of `cartbus shop mode` does not lift it. */
enum { STOP_PRIORITY = 100, MODE_LINE_ROOM = 80, MODE_KEY_ROOM = 32 };

const char *mode_name(ShopMode mode);            /* "mail-me"; "?": no such mode */
int mode_named(const char *name, ShopMode *ret); /* -EINVAL */
ShopMode mode_resumed(const ShopStatus *now);    /* what it is in, but for a pause; NULL: observe */
const char *mode_line(const ShopStatus *status, char ret[MODE_LINE_ROOM]); /* of an audit; NULL: nothing was said */

/*
 * Completes the status that follows `now` (NULL: none was said): its version, and what the later ones have to repeat, because only the last
 * status is kept. The caller has set mode, priority and at_us.
 */
void mode_follow(const ShopStatus *now, ShopStatus *status);
/* The key under which a status is said: of two people at once only one can say the same version. */
const char *mode_key(const ShopStatus *status, char ret[MODE_KEY_ROOM]);

#endif
