/*
 * names.h: the names of fields and enum values, because nanopb's descriptors have only numbers
 *
 * Each system registers the names of its messages (face `names` of services/systems.cmake). nanopb gives a message's fields as a macro
 * that calls its argument once per field; NAMES_FIELDS and NAMES_ROW make the tables of it:
 *
 *   #define FORM_MESSAGES(X) X(FormState) X(FormDue)
 *   FORM_MESSAGES(NAMES_FIELDS)
 *   static const struct message_names messages[] = { FORM_MESSAGES(NAMES_ROW){ NULL, NULL } };
 *   const struct names forms_names[] = { { messages, enums }, { NULL, NULL } };
 */
#ifndef KIT_WORDS_NAMES_H
#define KIT_WORDS_NAMES_H

#include "platform.pb.h"
#include <pb.h>
#include <stddef.h>
#include <stdint.h>

struct field_names {
	uint32_t tag;
	const char *name; /* NULL ends a table */
};

struct message_names {
	const pb_msgdesc_t *message; /* NULL ends a table */
	const struct field_names *fields;
};

/* The values of one enum field, from 0 on. A value without a word is shown as its number. */
struct enum_names {
	const pb_msgdesc_t *message; /* NULL ends a table */
	uint32_t tag;
	const char *const *words; /* ended by a NULL */
};

/* A system's table has one such row, and one of NULLs. */
struct names {
	const struct message_names *messages;
	const struct enum_names *enums;
};

extern const struct names *const registered_names[]; /* ended by a NULL */

/* Words of platform.proto's enums Platform and Consent, which messages of other systems carry too. */
extern const char *const names_of_platforms[], *const names_of_consents[];

#define NAMES_FIELD(message, storage, count, kind, field, number) { number, #field },
#define NAMES_FIELDS(message)                                                                                          \
	static const struct field_names message##_field_names[] = { message##_FIELDLIST(NAMES_FIELD, message){         \
		0, NULL } };
#define NAMES_ROW(message) { &message##_msg, message##_field_names },
#define NAMES_WORDS(name, ...) static const char *const name[] = { __VA_ARGS__, NULL }

const char *field_name(const pb_msgdesc_t *message, uint32_t tag); /* NULL: no such field */
/* The value of an enum field in words, "bought"; NULL: it is not an enum, or a value without a word. */
const char *enum_word(const pb_msgdesc_t *message, uint32_t tag, int value);

#endif
