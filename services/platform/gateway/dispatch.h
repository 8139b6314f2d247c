/*
 * dispatch.h: a request finds its endpoint, its messages are published, and it is answered
 */
#ifndef PLATFORM_GATEWAY_DISPATCH_H
#define PLATFORM_GATEWAY_DISPATCH_H

#include "services/kit/endpoint/endpoint.h"
#include "services/platform/gateway/publisher.h"

/* die()s when a table of a system is not whole. */
void dispatch_check(void);

/* A head has come. Routes it; *body_most is lowered to what the endpoint takes. To be cleared and freed by the caller. */
struct submission *dispatch_begin(
	struct endpoint_context *context, struct request *request, struct answer *answer, size_t *body_most);
/* Completes an answer before it is sent, also one that the server gives by itself (408, 413, 503). */
void dispatch_dress(struct submission *submission);
/* Before a byte of the body is taken. false: the answer is complete. */
bool dispatch_prove(struct submission *submission);
/* The request is complete. true: it is to be published. false: the answer is complete. */
bool dispatch_read(struct submission *submission);
/* The answer is complete when submission->on_end is called: once, from publisher_work or runtime_work. */
void dispatch_publish(struct publisher *publisher, struct submission *submission);
/* The end of one message of several. After the last the endpoint answers, and on_end is called. */
void dispatch_end(struct submission *submission, enum submission_end end, uint64_t seq, const char *why);

#endif
