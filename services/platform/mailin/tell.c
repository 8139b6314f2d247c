/* tell.c: what a mail that came back says, said on the bus */
#include "services/platform/mailin/tell.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <openssl/sha.h>
#include <stdio.h>

/* Two shoppers' bounces may be the same, byte by byte: it was the envelope that told whose each is. */
static void print_subject(const char *shop, const MailFeedback *feedback, struct buffer *ret)
{
	buffer_printf(ret, "%s\n%s\n%s\n%u\n", shop, feedback->address_hash, feedback->cart_id, feedback->step);
}

int tell(struct runtime *runtime, const char *shop, const MailFeedback *feedback, struct bytes mail, said_fn *answer,
	void *context)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	_cleanup_(buffer_free) struct buffer subject = { 0 };
	char hex[2 * SHA256_DIGEST_LENGTH + 1], idem[80];
	const struct publish_options how = { .shop = shop, .key = feedback->address_hash, .idem = idem };

	print_subject(shop, feedback, &subject);
	buffer_add(&subject, mail.data, mail.len);
	SHA256(subject.data, subject.len, digest);
	text_hex(digest, SHA256_DIGEST_LENGTH, hex);
	snprintf(idem, sizeof(idem), "mail:%s", hex);
	return runtime_publish(runtime, &topic_mail_feedback, &how, NULL, feedback, answer, context);
}
