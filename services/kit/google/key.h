/*
 * key.h: the key file of a service account, and what it signs; inside google.c only
 */
#ifndef KIT_GOOGLE_KEY_H
#define KIT_GOOGLE_KEY_H

#include "bus/base/bytes.h"

/*
 * The JWT by which a token of this scope is asked for at `issued_s`, good for an hour, and whom to ask. -errno: ret_why names what is
 * wrong with the file, and nothing that stands in it.
 */
int google_key_sign(const char *path, const char *scope, int64_t issued_s, struct buffer *ret_jwt, char ret_uri[256],
	char ret_why[200]);

#endif
