/*
 * standard_webhook.h: requests that we post to a webhook, signed by the rules of Standard Webhooks
 *
 * The headers are webhook-id, webhook-timestamp and webhook-signature. A signature is "v1," and
 * base64(HMAC-SHA256(secret, id.timestamp.body)). There is one for each secret, with blanks between, so that
 * a receiver can change its secret while both are valid. https://www.standardwebhooks.com
 */
#ifndef KIT_HTTP_STANDARD_WEBHOOK_H
#define KIT_HTTP_STANDARD_WEBHOOK_H

#include "services/kit/http/http.h"

struct standard_webhook_keys {
	uint8_t key[2][128]; /* the current key, and the previous one while it is still in its file */
	size_t len[2];       /* 0: none */
};

/*
 * Reads the text of a secret file: "whsec_" and base64, or the bytes themselves without a line end. -EINVAL:
 * shorter than 24 bytes.
 */
int standard_webhook_key(struct bytes text, uint8_t ret[128], size_t *ret_len);
/*
 * Reads the keys of [monitor] webhook: the secret alarm.webhook and, if it exists, alarm.webhook.previous. A
 * negative errno; ret_why gives the reason.
 */
int standard_webhook_keys_of(const struct config *config, struct standard_webhook_keys *ret, char ret_why[300]);
/* Fills `request` with a POST of JSON; the body is copied. -EINVAL: the URL is not allowed. */
int standard_webhook(struct http_request *request, const struct standard_webhook_keys *keys, const char *url,
	const char *id, int64_t now_us, struct bytes body);

#endif
