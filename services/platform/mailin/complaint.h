/*
 * complaint.h: somebody reported a mail of ours as spam
 */
#ifndef PLATFORM_MAILIN_COMPLAINT_H
#define PLATFORM_MAILIN_COMPLAINT_H

#include "services/platform/mailin/report.h"
#include <gmime/gmime.h>

/* A block of fields of a feedback report (RFC 5965). false: it is none. */
bool complaint_hear_fields(struct report *report, GMimeObject *block);
/* Text that holds such fields as lines, which some senders write instead of a part of its own. */
bool complaint_hear_text(struct report *report, const char *text);
/* Without a report: Microsoft's JMRP and abuse desks send the mail itself, beside a subject that says what it is about. */
void complaint_hear_original(struct report *report, const char *subject, GMimeObject *original);

#endif
