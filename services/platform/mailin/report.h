/* report.h: reads a returned mail: a bounce (RFC 3464) or a complaint (RFC 5965) */
#ifndef PLATFORM_MAILIN_REPORT_H
#define PLATFORM_MAILIN_REPORT_H

#include "bus/base/bytes.h"
#include "proto/platform_topics.h"
#include "services/kit/mail/address.h"
#include "services/platform/mailin/reason.h"

enum { REPORT_BYTES_MOST = 1024 * 1024, REPORT_NAMES_MOST = 24, REPORT_LINKS_MOST = 4, REPORT_LINK_MAX = 400 };

enum report_kind {
	REPORT_NONE,     /* neither a bounce nor a complaint: an answer, spam */
	REPORT_NOTHING,  /* a report without effect: delivered, delayed, read, away, "not spam" */
	REPORT_FEEDBACK, /* a bounce or a complaint, see `feedback` */
};

/* Plain data, because it comes from another process. */
struct report {
	enum report_kind kind;
	FeedbackKind feedback;
	enum reason reason; /* of a bounce */
	char detail[200];   /* the server's words, without addresses */
	char trouble[80];   /* of NONE: what the mail has too much of; "": nothing */
	int address_count, message_id_count;
	/* receivers of the report, and the sender of the mail that it concerns; one may have our tag */
	char addresses[REPORT_NAMES_MOST][255];
	char message_ids[REPORT_NAMES_MOST][200]; /* of the mail that it concerns, without angle brackets */
	char links[REPORT_LINKS_MOST]
		  [REPORT_LINK_MAX]; /* tokens of unsubscribe links in the mail that it concerns; "": none */
};

void report_init(void); /* once per process */
/* Reads any bytes, at most REPORT_BYTES_MOST. */
void report_read(struct bytes mail, struct report *ret);
/* Adds the envelope's recipients before the addresses in the mail, because they are the best proof. */
void report_note_recipients(struct report *report, const char (*recipients)[ADDRESS_MAX + 1], int count);
/* Could report_read have written it? Check this before you use a report from another process. */
bool report_is_sound(const struct report *report);

/* ---- may a library parse this mail? ---- */

/*
 * Checks a mail, or a part that is read as headers. NULL: it may be parsed; otherwise what it has too much
 * of, in words. It takes one pass and no memory.
 */
const char *bounds_trouble(struct bytes mail);

#endif
