/* gateway.h: the gateway's service table, and its own endpoints (services/kit/endpoint/endpoint.h) */
#ifndef PLATFORM_GATEWAY_GATEWAY_H
#define PLATFORM_GATEWAY_GATEWAY_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"
#include "services/kit/endpoint/endpoint.h"

extern const struct service gateway;

extern const struct endpoint action_endpoints[]; /* the owner's links of the nightly export */
/* bounces and complaints that SES reports through SNS */
extern const struct endpoint feedback_endpoints[];
extern const struct endpoint health_endpoints[];      /* GET /healthz: can the gateway accept messages now? */
extern const struct endpoint unsubscribe_endpoints[]; /* the link at the foot of each mail */

STATE_NUMBERS(used_links, "used"); /* by the id of an owner's link: when it was used */

/* The fold of the certificates with which SNS signs. */
void feedback_remember_certificate(
	struct state *state, const struct message_meta *said, const FeedbackCertificate *fact);

#endif
