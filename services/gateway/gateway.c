/*
 * gateway.c: the door: webhooks and links come in over HTTP, are proven to be real, and are said to the bus
 *
 * Hears:     -
 * Remembers: shop.status
 * Says:      cart.changed, cart.checkout, optout.request, mail.feedback, admin.action, privacy.request, link.clicked,
 *            gateway.away
 * Owns:      its spool (spool.c) and the rejections kept for inspection (reject.c)
 * Promises:  what was answered 200 is confirmed by the broker or synced in the spool; nothing overtakes the spool; everything is
 *            answered, within 1 s, a stop within 4 s.
 * Fails by:  503 with the reason in words.
 * Read next: http.c (connections), reception.c (from a request to what it means), door.c (from there to the bus or the spool),
 *            admission.c (which of them), services/kit/event.h (the storefronts' bodies)
 */
#include "services/gateway/gateway.h"
#include "proto/topics.h"

static void remember_status(struct state *state, const struct said *said, const ShopStatus *status)
{
	state_put(state, "status", said->shop, "mode", &ShopStatus_msg, status);
}

const struct service gateway = {
	.name = "gateway",
	.gateway = true,
	.remembers = { REMEMBERS(shop_status, remember_status) },
	.says = { SAYS(cart_changed), SAYS(cart_checkout), SAYS(optout_request), SAYS(mail_feedback),
		SAYS(admin_action), SAYS(privacy_request), SAYS(link_clicked), SAYS(gateway_away) },
};
