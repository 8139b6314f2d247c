/*
 * secret_lines.h: SHOP.previous, the webhook secrets in use since a rotation began, one per line
 *
 * The command adds to it, the gateway accepts each. 0.1.0 reads the file as one secret.
 */
#ifndef KIT_STOREFRONT_SECRET_LINES_H
#define KIT_STOREFRONT_SECRET_LINES_H

#include "bus/base/bytes.h"

/*
 * A rotation and the corrections of a mistyped secret need few lines. With more lines it would be unclear
 * which secret is in use.
 */
enum { SECRET_LINES_MOST = 8 };
/*
 * The least number of characters of a webhook secret. A shorter or empty one protects nothing, so the gateway
 * refuses it.
 */
enum { WEBHOOK_SECRET_LEAST = 8 };

struct secret_lines {
	struct bytes rest;
	int left;
};

struct secret_lines secret_lines_of(struct bytes text);
/* The next secret, without its line's end, LF or CR LF; empty lines are none. false: there are no more, or SECRET_LINES_MOST were read. */
bool secret_lines_next(struct secret_lines *lines, struct bytes *ret);
/* How many there are, at most SECRET_LINES_MOST. */
int secret_lines_count(struct bytes text);
/* more lines than SECRET_LINES_MOST, which are not accepted */
bool secret_lines_have_more(struct bytes text);
bool secret_lines_have(struct bytes text, struct bytes secret);

#endif
