/*
 * report.h: what a mail that came back says: a bounce (RFC 3464) or a complaint (RFC 5965)
 */
#ifndef PLATFORM_MAILIN_REPORT_H
#define PLATFORM_MAILIN_REPORT_H

#include "bus/base/bytes.h"
#include "proto/platform_topics.h"
#include "services/kit/mail/address.h"
#include "services/platform/mailin/reason.h"

enum { REPORT_BYTES_MOST = 1024 * 1024, REPORT_NAMES_MOST = 24, REPORT_LINKS_MOST = 4, REPORT_LINK_MAX = 400 };

enum report_kind {
	REPORT_NONE,     /* neither: an answer, spam */
	REPORT_NOTHING,  /* one that asks for nothing: delivered, delayed, read, away, "not spam" */
	REPORT_FEEDBACK, /* `feedback` says what */
};

/* Plain data: it comes from another process. */
struct report {
	enum report_kind kind;
	FeedbackKind feedback;
	enum reason reason; /* of a bounce */
	char detail[200];   /* what the server said, without addresses */
	char trouble[80];   /* of NONE: what it has too much of; "" nothing */
	int address_count, message_id_count;
	char addresses[REPORT_NAMES_MOST]
		      [255]; /* that it was sent to, and the mail it is about from: one may carry our tag */
	char message_ids[REPORT_NAMES_MOST][200]; /* of the mail it is about, without angle brackets */
	char links[REPORT_LINKS_MOST]
		  [REPORT_LINK_MAX]; /* tokens of unsubscribe links of the mail it is about; "" none */
};

void report_init(void); /* once per process */
/* Any bytes of at most REPORT_BYTES_MOST. */
void report_read(struct bytes mail, struct report *ret);
/* Whom the envelope says it was sent to is the best proof: they stand before what the mail says of itself. */
void report_note_recipients(struct report *report, const char (*recipients)[ADDRESS_MAX + 1], int count);
/* Could report_read have written it? What another process sent is to be asked this before it is looked at. */
bool report_is_sound(const struct report *report);

/* ---- whether a library may take this mail apart ---- */

/* Of a mail, or of a part that is read as headers. NULL: yes; else in words what there is too much of. One pass, no memory. */
const char *bounds_trouble(struct bytes mail);

#endif
