/*
 * ses_event.h: bounces and complaints as Amazon SES tells them
 *
 * Notifications of an identity name themselves by `notificationType`, events of a configuration set by `eventType`; apart from that
 * they are the same (SES: "Contents of event data", "Amazon SNS notification contents").
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
	int count; /* 0: nothing that anything follows from */
	struct ses_recipient recipients[SES_RECIPIENTS_MOST];
	char message_id
		[MAIL_LOCAL_MAX]; /* mail_local_read() of the mail that it says it is about; "": it does not say */
	char words[100];          /* of 0: what it is */
};

/* -EBADMSG: one of these, and it cannot be read; ret_why says why. */
int ses_event_parse(struct bytes message, struct ses_event *ret, char ret_why[200]);

#endif
