/*
 * bounce.h: what a bounce says: the fields of its report (RFC 3464), or its words
 */
#ifndef PLATFORM_MAILIN_BOUNCE_H
#define PLATFORM_MAILIN_BOUNCE_H

#include "services/platform/mailin/report.h"

enum { BOUNCE_RECIPIENTS_MOST = 16, BOUNCE_NAMES_MOST = 4 };

enum bounce_state { BOUNCE_NONE, BOUNCE_NOTHING, BOUNCE_FAILED };

/* What a report says of one recipient. */
struct told {
	enum bounce_state state;
	enum reason reason;
	char names[2][ADDRESS_MAX + 1]; /* its address as it was given, and where it ended: in lower case; "" unknown */
	char status[16];
	char said[300];
};

/* What is known so far; {0}: nothing. */
struct bounce {
	enum bounce_state state;
	enum reason reason;
	char status[16];
	char said[300];
	struct told told[BOUNCE_RECIPIENTS_MOST];
	int told_count;
	char mailed[BOUNCE_NAMES_MOST][ADDRESS_MAX + 1]; /* whom our mail was to, in lower case */
	int mailed_count;
	bool is_of_several; /* the report speaks of more than one address: its text may mean any of them */
};

/* The mail around the words. Each may be ""; `text` ends before the original. */
struct bounce_mail {
	const char *from, *subject, *text;
	bool automatic;   /* it says that a program answered for a person: RFC 3834 */
	bool is_personal; /* its headers say that it answers a mail, or goes to many: people and shops write so */
	bool is_written;  /* they say that it was written with a mail program, or has a sender in its envelope */
	bool names_ours;  /* its text quotes a tag or a Message-ID of ours, as a bounce does that somebody forwards */
	bool is_nobodys;  /* its envelope had no sender */
	bool is_report;   /* by its type; what reports is not in it */
};

/* A delivery status: its fields, one to a line. */
void bounce_hear_status(struct bounce *bounce, const char *fields);
/* Whom the mail that came back was to, as its own header says: of several recipients in a report that one counts. */
void bounce_hear_mailed(struct bounce *bounce, const char *address);
/* Once, after the last status. Where the fields were clear it changes nothing; where there are none, only what is worded as a bounce counts. */
void bounce_hear_mail(struct bounce *bounce, const struct bounce_mail *letter);
/* At the end, for each address of ours: an answer that finds no host of its domain looked for us, and says nothing of the recipient. */
void bounce_hear_ours(struct bounce *bounce, const char *address);
/* Does a mail server write under this name? "<>" is one's. */
bool bounce_is_from_a_server(const char *from);
void bounce_tell(const struct bounce *bounce, struct report *ret);

#endif
