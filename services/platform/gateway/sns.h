/*
 * sns.h: what Amazon SNS posts, and whether it is from SNS
 *
 * Amazon: "Parsing message formats" and "Verifying the signatures of Amazon SNS messages". The signature covers the fields in the
 * order of their names, version 1 with SHA-1, version 2 with SHA-256, both with RSA.
 */
#ifndef PLATFORM_GATEWAY_SNS_H
#define PLATFORM_GATEWAY_SNS_H

#include "bus/base/bytes.h"
#include <stdint.h>

enum sns_kind { SNS_NOTIFICATION, SNS_SUBSCRIBE, SNS_UNSUBSCRIBE };

struct sns {
	enum sns_kind kind;
	int version; /* of the signature: 1 or 2 */
	char message_id[65], topic_arn[260], type[40];
	char certificate_url[256], subscribe_url[1024]; /* as given: not judged */
	int64_t at_us;
	struct buffer message, covered, signature;
};

/* Has it as few parts as an envelope of SNS has? One look at each byte: for senders that have proven nothing, before it is parsed. */
bool sns_may_be_envelope(struct bytes body);
/* -EBADMSG: ret_why says what in it is not as SNS writes it. sns_clear is due in any case. */
int sns_parse(struct bytes body, struct sns *ret, char ret_why[200]);
void sns_clear(struct sns *sns);
/* Is it signed with the key of this certificate (PEM), and does that hold now? */
bool sns_signed_by(const struct sns *sns, const char *pem, int64_t now_us);
bool sns_certificate_holds(const char *pem, int64_t now_us);

#endif
