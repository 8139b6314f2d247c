/*
 * signed_token.h: a few fields with a MAC, as one word for a URL
 *
 * The token is base64url, without padding, of the fields and of HMAC-SHA256 over a purpose and the fields.
 * The purpose defines what the fields mean: signed_link.h, admin_link.h.
 */
#ifndef KIT_KEYS_SIGNED_TOKEN_H
#define KIT_KEYS_SIGNED_TOKEN_H

#include "bus/base/bytes.h"

enum { SIGNED_TOKEN_MAX = 300, SIGNED_TOKEN_KEY_ID = 4 };

/* An id that tells keys apart and reveals nothing of the key. */
void signed_token_key_id(struct bytes key, const char *purpose, uint8_t ret[SIGNED_TOKEN_KEY_ID]);
void signed_token_add_text(struct buffer *fields, const char *text); /* at most 255 bytes */
/* Takes the next text of the fields. -EBADMSG: there is none, or it does not fit. */
int signed_token_take_text(struct bytes *rest, char *to, size_t room);

/* -EMSGSIZE: the token would be too long. */
int signed_token_make(struct bytes key, const char *purpose, struct bytes fields, char ret[SIGNED_TOKEN_MAX + 1]);
/*
 * -EBADMSG: it is no token, or is cut. -EKEYREJECTED: it was not made with this key for this purpose. It
 * compares in constant time. It refuses every spelling that signed_token_make would not write, so the same
 * fields have exactly one token.
 */
int signed_token_read(struct bytes key, const char *purpose, const char *token, struct buffer *ret_fields);

#endif
