/*
 * tell.h: what a mail that came back says, said on the bus
 */
#ifndef PLATFORM_MAILIN_TELL_H
#define PLATFORM_MAILIN_TELL_H

#include "bus/actor/runtime/runtime.h"
#include "proto/platform_topics.h"

/* Its name on the bus is a digest of whose it is and of the mail's bytes: told twice it changes nothing. -ENOTCONN; else answered exactly once. */
int tell(struct runtime *runtime, const char *shop, const MailFeedback *feedback, struct bytes mail, said_fn *answer,
	void *context);

#endif
