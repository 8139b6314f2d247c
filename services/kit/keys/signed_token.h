/*
 * signed_token.h: a few fields with a MAC, as one word for a URL
 *
 * base64url, without padding, of the fields and HMAC-SHA256 over a purpose and them. What a token means is its purpose's own:
 * signed_link.h, admin_link.h.
 */
#ifndef KIT_KEYS_SIGNED_TOKEN_H
#define KIT_KEYS_SIGNED_TOKEN_H

#include "bus/base/bytes.h"

enum { SIGNED_TOKEN_MAX = 300, SIGNED_TOKEN_KEY_ID = 4 };

/* Tells keys apart, and nothing of the key. */
void signed_token_key_id(struct bytes key, const char *purpose, uint8_t ret[SIGNED_TOKEN_KEY_ID]);
void signed_token_add_text(struct buffer *fields, const char *text); /* at most 255 bytes */
/* The next text of the fields; -EBADMSG: there is none, or it does not fit. */
int signed_token_take_text(struct bytes *rest, char *to, size_t room);

/* -EMSGSIZE: the token would be too long. */
int signed_token_make(struct bytes key, const char *purpose, struct bytes fields, char ret[SIGNED_TOKEN_MAX + 1]);
/*
 * -EBADMSG: not a token, cut ones included; -EKEYREJECTED: not made with this key for this purpose. Compares in constant time.
 * Refuses every token that making would not have made, spelling included: the same fields, the same token.
 */
int signed_token_read(struct bytes key, const char *purpose, const char *token, struct buffer *ret_fields);

#endif
