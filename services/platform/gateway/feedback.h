/*
 * feedback.h: bounces and complaints that SES tells by way of SNS
 */
#ifndef PLATFORM_GATEWAY_FEEDBACK_H
#define PLATFORM_GATEWAY_FEEDBACK_H

#include "proto/platform_topics.h"
#include "services/kit/endpoint/endpoint.h"

extern const struct endpoint feedback_endpoints[];

/* The certificates that SNS signs with: a fold. */
void feedback_remember_certificate(
	struct state *state, const struct message_meta *said, const FeedbackCertificate *fact);

#endif
