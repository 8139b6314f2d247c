/*
 * mailin.h: the service that hears what comes back
 */
#ifndef PLATFORM_MAILIN_MAILIN_H
#define PLATFORM_MAILIN_MAILIN_H

#include "bus/actor/runtime/runtime.h"
#include "bus/actor/service.h"
#include "proto/platform_topics.h"

extern const struct service mailin;

/*
 * Says on the bus what a mail that came back says. Its name there is a digest of whose it is and of the mail's bytes: told
 * twice it changes nothing. -ENOTCONN; else answered exactly once.
 */
int feedback_publish(struct runtime *runtime, const char *shop, const MailFeedback *feedback, struct bytes mail,
	said_fn *answer, void *context);

#endif
