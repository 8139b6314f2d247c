/*
 * standard_webhook.h: what we post to somebody's webhook, signed as Standard Webhooks asks
 *
 * Headers webhook-id, webhook-timestamp, webhook-signature; "v1," and base64(HMAC-SHA256(secret, id.timestamp.body)), one with a
 * blank between for each secret, so that a receiver may change over while both are valid. https://www.standardwebhooks.com
 */
#ifndef KIT_HTTP_STANDARD_WEBHOOK_H
#define KIT_HTTP_STANDARD_WEBHOOK_H

#include "services/kit/http/http.h"

struct standard_webhook_keys {
	uint8_t key[2][128]; /* the current one, and the one before while it is still in its file */
	size_t len[2];       /* 0: none */
};

/* The text of a secret file: "whsec_" and base64, or else the bytes themselves, a line end left out. -EINVAL: shorter than 24. */
int standard_webhook_key(struct bytes text, uint8_t ret[128], size_t *ret_len);
/* Those of [monitor] webhook: the secret alarm.webhook and, while there is one, alarm.webhook.previous. A negative errno, and why. */
int standard_webhook_keys_of(const struct config *config, struct standard_webhook_keys *ret, char ret_why[300]);
/* Fills `request`, which takes the body: a POST of JSON. -EINVAL: not such a URL. */
int standard_webhook(struct http_request *request, const struct standard_webhook_keys *keys, const char *url,
	const char *id, int64_t now_us, struct bytes body);

#endif
