/* complaint.h: reads complaints: reports of our mails as spam */
#ifndef PLATFORM_MAILIN_COMPLAINT_H
#define PLATFORM_MAILIN_COMPLAINT_H

#include "services/platform/mailin/report.h"
#include <gmime/gmime.h>

/* Reads a block of fields of a feedback report (RFC 5965). false: it is none. */
bool complaint_hear_fields(struct report *report, GMimeObject *block);
/* Reads such fields from lines of the text, which some senders write instead of a separate part. */
bool complaint_hear_text(struct report *report, const char *text);
/*
 * Reads a complaint without a report: Microsoft's JMRP and abuse desks send the mail itself, and the subject
 * tells that it is a complaint.
 */
void complaint_hear_original(struct report *report, const char *subject, GMimeObject *original);

#endif
