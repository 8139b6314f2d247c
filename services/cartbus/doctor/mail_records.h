/*
 * mail_records.h: checks a domain's SPF, DKIM and DMARC records, and whether mail providers will accept them
 *
 * It is pure: it gets records as text and returns a judgement.
 */
#ifndef CARTBUS_DOCTOR_MAIL_RECORDS_H
#define CARTBUS_DOCTOR_MAIL_RECORDS_H

#include "services/cartbus/doctor/dns.h"

enum record_state { RECORD_GOOD, RECORD_DOUBTFUL, RECORD_BAD, RECORD_NONE };

struct record_judgement {
	enum record_state state;
	char words[200];  /* "several SPF records, so none counts" */
	char remedy[300]; /* "" for a good record */
};

/*
 * Each judges all TXT records of one name: SPF of the domain (RFC 7208), DKIM of SELECTOR._domainkey.DOMAIN
 * (RFC 6376, 8463), DMARC of _dmarc.DOMAIN (RFC 7489).
 */
void spf_judge(const struct dns_texts *texts, struct record_judgement *ret);
void dkim_judge(const struct dns_texts *texts, struct record_judgement *ret);
void dmarc_judge(const struct dns_texts *texts, struct record_judgement *ret);

#endif
