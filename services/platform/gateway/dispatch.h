/*
 * dispatch.h: a request finds its endpoint, its messages are published, and it is answered
 */
#ifndef PLATFORM_GATEWAY_DISPATCH_H
#define PLATFORM_GATEWAY_DISPATCH_H

#include "services/kit/endpoint/endpoint.h"
#include "services/platform/gateway/publisher.h"

/* die()s if a table of a system is invalid. */
void dispatch_check(void);

/*
 * Routes a request by its head and makes its submission, which the caller must clear and free. *body_most is
 * lowered to the endpoint's limit.
 */
struct submission *dispatch_begin(
	struct endpoint_context *context, struct request *request, struct answer *answer, size_t *body_most);
/* Completes an answer before it is sent, also one that the server gives by itself (408, 413, 503). */
void dispatch_dress(struct submission *submission);
/* To be called before a byte of the body is read. false: the answer is complete. */
bool dispatch_prove(struct submission *submission);
/* To be called when the request is complete. true: it must be published. false: the answer is complete. */
bool dispatch_read(struct submission *submission);
/*
 * Publishes the messages. The answer is complete when submission->on_end is called: once, from publisher_work
 * or runtime_work.
 */
void dispatch_publish(struct publisher *publisher, struct submission *submission);
/* Notes the end of one message. After the last one the endpoint answers, and on_end is called. */
void dispatch_end(struct submission *submission, enum submission_end end, uint64_t seq, const char *why);

#endif
