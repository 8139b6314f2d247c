/* mailin.h: the service that receives returned mails */
#ifndef PLATFORM_MAILIN_MAILIN_H
#define PLATFORM_MAILIN_MAILIN_H

#include "bus/actor/runtime/runtime.h"
#include "bus/actor/service.h"
#include "proto/platform_topics.h"

extern const struct service mailin;

/*
 * Publishes the report of a returned mail. Its idempotency key is a digest of its owner and of the mail's
 * bytes, so a repetition changes nothing. -ENOTCONN: there is no session. Otherwise `answer` is called
 * exactly once.
 */
int feedback_publish(struct runtime *runtime, const char *shop, const MailFeedback *feedback, struct bytes mail,
	said_fn *answer, void *context);

#endif
