/*
 * curve.h: CURVE keys, in memory and in files
 *
 * A secret key is a file <keys>/<name>.key of mode 0600 with 64 hex digits, or the copy of it that systemd
 * passed on. The broker's public key, which its peers need, is beside it in broker.pub. A public key is
 * always shown as 64 hex digits.
 */
#ifndef WIRE_CURVE_H
#define WIRE_CURVE_H

#include "bus/base/config.h"

enum { CURVE_KEY = 32, CURVE_HEX = 2 * CURVE_KEY + 1 };

struct curve_pair {
	uint8_t public_key[CURVE_KEY], secret_key[CURVE_KEY];
};

extern const char curve_broker_name[]; /* "broker" */

void curve_make(struct curve_pair *ret); /* a fresh pair */
void curve_wipe(struct curve_pair *pair);
/*
 * <folder>/<name>.key. -ENOENT: there is none. -EPERM: others may read the file. -EBADMSG: it has no key.
 * ret_why names the file and the remedy.
 */
int curve_read_pair(const char *folder, const char *name, struct curve_pair *ret, char ret_why[256]);
int curve_read_public(const char *folder, const char *name, uint8_t ret[CURVE_KEY], char ret_why[256]);

/*
 * Reads an address such as "10.0.0.7:7400" ([broker] listen, [connect] broker). false: it is not host:port
 * with a port from 1024 to 65000.
 */
bool curve_address(const char *text, char ret_host[128], int *ret_port);

#endif
