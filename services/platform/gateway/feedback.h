/*
 * feedback.h: bounces and complaints that SES tells by way of SNS
 */
#ifndef PLATFORM_GATEWAY_FEEDBACK_H
#define PLATFORM_GATEWAY_FEEDBACK_H

#include "proto/topics.h"
#include "services/platform/gateway/reception.h"
#include "services/platform/gateway/route.h"

/* As reception_judge_head: does this shop believe a topic of SNS, and is it this one? */
bool feedback_judge_head(
	struct reception *reception, const struct route *route, const struct request *request, struct answer *answer);
/* As reception_receive. */
bool feedback_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish);
/* The certificates that SNS signs with: a fold. */
void feedback_remember_certificate(
	struct state *state, const struct message_meta *said, const FeedbackCertificate *fact);

#endif
