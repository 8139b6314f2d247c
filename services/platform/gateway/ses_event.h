/*
 * ses_event.h: reads the reports of bounces and complaints from Amazon SES
 *
 * Notifications of an identity have their type in `notificationType`, events of a configuration set in
 * `eventType`; otherwise they are the same (SES: "Contents of event data", "Amazon SNS notification
 * contents").
 */
#ifndef PLATFORM_GATEWAY_SES_EVENT_H
#define PLATFORM_GATEWAY_SES_EVENT_H

#include "proto/platform_topics.h"
#include "services/kit/mail/address.h"
#include "services/kit/mail/message.h"

enum { SES_RECIPIENTS_MOST = 50 }; /* of one mail, by SES's own limit */

struct ses_recipient {
	char address[ADDRESS_MAX + 1]; /* normalised */
	char detail[200];
};

struct ses_event {
	FeedbackKind kind;
	int count; /* 0: the event has no effect */
	struct ses_recipient recipients[SES_RECIPIENTS_MOST];
	/* mail_local_read() of the mail that it concerns; "": it does not tell */
	char message_id[MAIL_LOCAL_MAX];
	char words[100]; /* if count is 0: the kind of event */
};

/* -EBADMSG: it is such a report but cannot be read; ret_why gives the reason. */
int ses_event_parse(struct bytes message, struct ses_event *ret, char ret_why[200]);

#endif
