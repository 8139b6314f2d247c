/*
 * totp.h: the second factor: codes of six digits by time (RFC 6238, as every authenticator app makes them)
 *
 * HMAC-SHA-1, six digits, steps of 30 s, secrets of 160 bits.
 */
#ifndef CONSOLE_PEOPLE_TOTP_H
#define CONSOLE_PEOPLE_TOTP_H

#include "services/console/people/person.h"

enum {
	TOTP_STEP_S = 30,
	TOTP_DIGITS = 6,
	TOTP_BASE32_ROOM = PERSON_TOTP_LEN * 8 / 5 + 1, /* 32 characters, no padding */
	TOTP_URI_ROOM = 700
};

void totp_secret_new(uint8_t ret[PERSON_TOTP_LEN]);
void totp_base32(const uint8_t secret[PERSON_TOTP_LEN], char ret[TOTP_BASE32_ROOM]);
/* otpauth://totp/cartbus%20HOST:NAME?secret=...&issuer=cartbus%20HOST, for a QR code */
void totp_uri(const uint8_t secret[PERSON_TOTP_LEN], const char *host, const char *name, char ret[TOTP_URI_ROOM]);

uint64_t totp_counter(int64_t wall_us);
/* RFC 4226 section 5.3; digits 6 to 8 */
uint32_t totp_code(const uint8_t secret[PERSON_TOTP_LEN], uint64_t counter, int digits);

/*
 * Is this the code of the present step, or of the one before (RFC 6238 section 5.2), and of a later counter than
 * `last_counter`? Blanks in the code do not count. It compares in constant time. *ret_counter: the code's, to be
 * written durably before anything is granted.
 */
bool totp_accepts(const uint8_t secret[PERSON_TOTP_LEN], const char *code, int64_t wall_us, uint64_t last_counter,
	uint64_t *ret_counter);

#endif
