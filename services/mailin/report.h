/*
 * report.h: what a mail that came back says: a bounce (RFC 3464) or a complaint (RFC 5965)
 */
#ifndef MAILIN_REPORT_H
#define MAILIN_REPORT_H

#include "bus/base/bytes.h"
#include "proto/topics.h"

enum { REPORT_BYTES_MOST = 1024 * 1024, REPORT_NAMES_MOST = 24 };

enum report_kind {
	REPORT_NONE,     /* neither: an answer, an absence note, spam */
	REPORT_NOTHING,  /* one that asks for nothing: delivered, delayed, "not spam" */
	REPORT_FEEDBACK, /* `feedback` says what */
};

struct report {
	enum report_kind kind;
	FeedbackKind feedback;
	char detail[200]; /* what the server said, without addresses */
	int address_count, message_id_count;
	char addresses[REPORT_NAMES_MOST]
		      [255]; /* that it was sent to, and the mail it is about from: one may carry our tag */
	char message_ids[REPORT_NAMES_MOST][200]; /* of the mail it is about, without angle brackets */
};

void report_init(void); /* once per process */
/* Any bytes of at most REPORT_BYTES_MOST. */
void report_read(struct bytes mail, struct report *ret);

#endif
