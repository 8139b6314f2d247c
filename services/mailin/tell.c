/* tell.c: what a mail that came back says, said on the bus */
#include "services/mailin/tell.h"
#include "bus/base/text.h"
#include <openssl/sha.h>
#include <stdio.h>

int tell(struct runtime *runtime, const char *shop, const MailFeedback *feedback, struct bytes mail, said_fn *answer,
	void *context)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1], idem[80];
	const struct say how = { .shop = shop, .key = feedback->address_hash, .idem = idem };

	SHA256(mail.data, mail.len, digest);
	text_hex(digest, SHA256_DIGEST_LENGTH, hex);
	snprintf(idem, sizeof(idem), "mail:%s", hex);
	return runtime_say(runtime, &topic_mail_feedback, &how, NULL, feedback, answer, context);
}
