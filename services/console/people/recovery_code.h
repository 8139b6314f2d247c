/*
 * recovery_code.h: ten codes for a person whose second factor is lost, each for one use
 *
 * A code has 80 random bits, as "k7mq-2vfa-x3dp-wz5e" in base32. Only its keyed hash is kept.
 */
#ifndef CONSOLE_PEOPLE_RECOVERY_CODE_H
#define CONSOLE_PEOPLE_RECOVERY_CODE_H

#include "bus/base/bytes.h"
#include "services/console/people/person.h"

enum { RECOVERY_CODE_ROOM = 20 };

/* Replaces all codes of the person. They are shown once, and cannot be computed from what is kept. */
void recovery_codes_new(struct bytes key, struct person *person, char ret[PERSON_RECOVERY_CODES][RECOVERY_CODE_ROOM]);
/* Takes the code away from the person if it is one. Case, blanks and hyphens do not count. false: it is none. */
bool recovery_code_spend(struct bytes key, struct person *person, const char *code);

#endif
