/* bounce.h: reads a bounce: the fields of its report (RFC 3464), or its words */
#ifndef PLATFORM_MAILIN_BOUNCE_H
#define PLATFORM_MAILIN_BOUNCE_H

#include "services/platform/mailin/report.h"

enum { BOUNCE_RECIPIENTS_MOST = 16, BOUNCE_NAMES_MOST = 4 };

enum bounce_state { BOUNCE_NONE, BOUNCE_NOTHING, BOUNCE_FAILED };

/* A report about one recipient. */
struct told {
	enum bounce_state state;
	enum reason reason;
	char names[2][ADDRESS_MAX + 1]; /* the original and the final address, in lower case; "": unknown */
	char status[16];
	char said[300];
};

/* What is known so far; {0}: nothing is known. */
struct bounce {
	enum bounce_state state;
	enum reason reason;
	char status[16];
	char said[300];
	struct told told[BOUNCE_RECIPIENTS_MOST];
	int told_count;
	char mailed[BOUNCE_NAMES_MOST][ADDRESS_MAX + 1]; /* the recipients of our mail, in lower case */
	int mailed_count;
	bool is_of_several; /* the report has more than one address, and its text may mean any of them */
};

/* The mail around the report. Each text may be ""; `text` ends before the original mail. */
struct bounce_mail {
	const char *from, *subject, *text;
	bool automatic; /* it tells that a program answered for a person (RFC 3834) */
	/* its headers tell that it answers a mail or goes to many receivers, so people or shops wrote it */
	bool is_personal;
	bool is_written; /* its headers name a mail program, or its envelope has a sender */
	bool names_ours; /* its text quotes a tag or a Message-ID of ours, like a forwarded bounce */
	bool is_nobodys; /* its envelope had no sender */
	bool is_report;  /* its type is that of a report, but the report is missing */
};

/* Reads a delivery status: one field per line. */
void bounce_hear_status(struct bounce *bounce, const char *fields);
/*
 * Notes the recipient in the header of the returned mail. If a report has several recipients, that one
 * counts.
 */
void bounce_hear_mailed(struct bounce *bounce, const char *address);
/*
 * To be called once, after the last status. It changes nothing if the fields were clear. Without fields only
 * wording that is typical of bounces counts.
 */
void bounce_hear_mail(struct bounce *bounce, const struct bounce_mail *letter);
/*
 * To be called at the end for each address of ours. A server that finds no host for our domain was looking
 * for us, so its answer tells nothing about the recipient.
 */
void bounce_hear_ours(struct bounce *bounce, const char *address);
/* Is this the sender of a mail server? "<>" is one. */
bool bounce_is_from_a_server(const char *from);
void bounce_tell(const struct bounce *bounce, struct report *ret);

#endif
