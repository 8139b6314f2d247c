/*
 * gateway.c: takes webhooks and links over HTTP, proves that they are real, and publishes them on the bus
 *
 * Hears:     -
 * Remembers: shop.status, suppression, admin.action, feedback.certificate
 * Says:      optout.request, mail.feedback, admin.action, privacy.request, gateway.away, gateway.seen, storefront.task,
 *            feedback.fetch; and what systems register
 * Owns:      its spool (spool.c) and the rejections kept for inspection (reject.c)
 * Promises:  a message that was answered with 200 is confirmed by the broker or synced in the spool; no
 *            message overtakes the spool; every request is answered within 1 s, a stop within 4 s.
 * Fails by:  503 with the reason in words.
 * Read next: http.c (connections), dispatch.c (from a request to its endpoint), publisher.c (from there to
 *            the bus or the spool), admission.c (decides between bus and spool),
 *            services/kit/storefront/event.h (the storefronts' bodies)
 */
#include "services/platform/gateway/gateway.h"
#include "proto/platform_topics.h"
#include "services/kit/endpoint/endpoint.h"
#include "services/kit/suppression/suppressions.h"
#include "services/platform/gateway/publisher.h"
#include <inttypes.h>

/* --- GET /healthz: whether the gateway can take something in now --- */

static bool read_health(struct submission *submission)
{
	const struct publisher *publisher = submission->context->publisher;
	const char *trouble = publisher_trouble(publisher);
	struct answer *answer = submission->answer;

	if (trouble) {
		answer_json_error(answer, 503, trouble);
		return false;
	}
	answer->status = 200;
	answer->content_type = "application/json";
	buffer_printf(&answer->body, "{\"ready\":true,\"broker\":\"%s\",\"spooled\":%" PRIu64 "}\n",
		publisher_live(publisher) ? "connected" : "away", publisher_spooled(publisher));
	return false;
}

const struct endpoint health_endpoints[] = {
	{ "/healthz", ENDPOINT_READS, .read = read_health },
	{ 0 },
};

STATE_TABLE(shop_modes, "status", ShopStatus);

static void remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status)
{
	STATE_PUT(state, shop_modes, said->shop, "mode", status);
}

/* Remembers when a link of the owner was used. */
static void remember_action(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	if (action->link_id[0])
		STATE_PUT_NUMBER(state, used_links, said->shop, action->link_id, (uint64_t)action->at_us);
}

const struct service gateway = {
	.name = "gateway",
	.gateway = true,
	.layout = 1,
	.remembers = REMEMBERING(REMEMBERS(shop_status, remember_status), REMEMBERS(suppression, suppressions_remember),
		REMEMBERS(admin_action, remember_action),
		REMEMBERS(feedback_certificate, feedback_remember_certificate)),
	.says = SAYING(SAYS(optout_request), SAYS(mail_feedback), SAYS(admin_action), SAYS(privacy_request),
		SAYS(gateway_away), SAYS(gateway_seen), SAYS(storefront_task), SAYS(feedback_fetch)),
	.says_also = registered_endpoint_topics,
};
