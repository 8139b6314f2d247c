/*
 * mailin.c: bounces and complaints that come back as mails, and what SNS needs fetched
 *
 * Hears:     feedback.fetch
 * Remembers: document, reminder.sent, reminder.ambiguous
 * Says:      mail.feedback, feedback.certificate, audit; and what systems register
 * Promises:  a mail leaves its folder only when what it says is confirmed; nobody can have somebody else suppressed by a mail that
 *            he made up.
 * Read next: mailbox.c (which route takes a mail), folder.c, lmtp_door.c (the mails), report.c (what they say), match.c (whose mail it was), fetch.c
 */
#include "services/platform/mailin/mailin.h"
#include "services/kit/documents/docs.h"
#include "services/kit/mail/inbound/route.h"
#include "services/platform/mailin/fetch.h"
#include "services/platform/mailin/match.h"

const struct service mailin = {
	.name = "mailin",
	.hears = HEARING(HEARS(feedback_fetch, fetch_hear)),
	.remembers = REMEMBERING(REMEMBERS(document, docs_remember),
		REMEMBERS_FOR_A_WHILE(reminder_sent, match_remember_outcome),
		REMEMBERS_FOR_A_WHILE(reminder_ambiguous, match_remember_outcome)),
	.says = SAYING(SAYS(mail_feedback), SAYS(feedback_certificate), SAYS(audit)),
	.says_also = registered_mail_route_topics,
	.effects = RUNNING(&fetch_effect),
};
