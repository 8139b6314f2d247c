/*
 * mail_records.h: what a domain's SPF, DKIM and DMARC records say, and whether mailboxes will believe them
 *
 * Pure: records go in as text, a judgement comes out.
 */
#ifndef CARTBUS_DOCTOR_MAIL_RECORDS_H
#define CARTBUS_DOCTOR_MAIL_RECORDS_H

#include "services/cartbus/doctor/dns.h"

enum record_state { RECORD_GOOD, RECORD_DOUBTFUL, RECORD_BAD, RECORD_NONE };

struct record_judgement {
	enum record_state state;
	char words[200];  /* "two SPF records: neither counts" */
	char remedy[300]; /* "" of a good one */
};

/* Of all TXT records at the domain (RFC 7208), at SELECTOR._domainkey.DOMAIN (RFC 6376, 8463), at _dmarc.DOMAIN (RFC 7489). */
void spf_judge(const struct dns_texts *texts, struct record_judgement *ret);
void dkim_judge(const struct dns_texts *texts, struct record_judgement *ret);
void dmarc_judge(const struct dns_texts *texts, struct record_judgement *ret);

#endif
