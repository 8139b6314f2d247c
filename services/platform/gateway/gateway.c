/*
 * gateway.c: the door: webhooks and links come in over HTTP, are proven to be real, and are said to the bus
 *
 * Hears:     -
 * Remembers: shop.status, suppression, admin.action, feedback.certificate
 * Says:      cart.changed, cart.checkout, optout.request, mail.feedback, admin.action, privacy.request, link.clicked,
 *            gateway.away, gateway.seen, storefront.task, feedback.fetch
 * Owns:      its spool (spool.c) and the rejections kept for inspection (reject.c)
 * Promises:  what was answered 200 is confirmed by the broker or synced in the spool; nothing overtakes the spool; everything is
 *            answered, within 1 s, a stop within 4 s.
 * Fails by:  503 with the reason in words.
 * Read next: http.c (connections), reception.c (from a request to what it means), door.c (from there to the bus or the spool),
 *            admission.c (which of them), services/kit/storefront/event.h (the storefronts' bodies)
 */
#include "services/platform/gateway/gateway.h"
#include "proto/topics.h"
#include "services/platform/gateway/feedback.h"

static void remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status)
{
	state_put(state, "status", said->shop, "mode", &ShopStatus_msg, status);
}

/* Whether the page may offer to take an opt-out back. */
static void remember_suppression(struct state *state, const struct message_meta *said, const Suppression *row)
{
	if (state_number(state, "version", said->shop, row->address_hash) > said->version)
		return;
	state_put_number(state, "version", said->shop, row->address_hash, said->version);
	state_put(state, "suppressed", said->shop, row->address_hash, &Suppression_msg, row);
}

/* Which of the owner's links were used, and when. */
static void remember_action(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	if (action->link_id[0])
		state_put_number(state, "used", said->shop, action->link_id, (uint64_t)action->at_us);
}

const struct service gateway = {
	.name = "gateway",
	.gateway = true,
	.layout = 1,
	.remembers = { REMEMBERS(shop_status, remember_status), REMEMBERS(suppression, remember_suppression),
		REMEMBERS(admin_action, remember_action),
		REMEMBERS(feedback_certificate, feedback_remember_certificate) },
	.says = { SAYS(cart_changed), SAYS(cart_checkout), SAYS(optout_request), SAYS(mail_feedback),
		SAYS(admin_action), SAYS(privacy_request), SAYS(link_clicked), SAYS(gateway_away), SAYS(gateway_seen),
		SAYS(storefront_task), SAYS(feedback_fetch) },
};
