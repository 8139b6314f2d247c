/*
 * sns.h: reads the posts of Amazon SNS and verifies that they come from SNS
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
	char certificate_url[256], subscribe_url[1024]; /* as received, not checked */
	int64_t at_us;
	struct buffer message, covered, signature;
};

/*
 * Has the body as few parts as an envelope of SNS? It looks once at each byte; use it before parsing, for
 * unproven senders.
 */
bool sns_may_be_envelope(struct bytes body);
/* -EBADMSG: it differs from SNS's format; ret_why tells where. The caller must call sns_clear in any case. */
int sns_parse(struct bytes body, struct sns *ret, char ret_why[200]);
void sns_clear(struct sns *sns);
/* Is it signed with the key of this certificate (PEM), and is the certificate valid at now_us (wall time)? */
bool sns_signed_by(const struct sns *sns, const char *pem, int64_t now_us);
bool sns_certificate_holds(const char *pem, int64_t now_us);

#endif
