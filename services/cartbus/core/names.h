/*
 * names.h: what fields and enum values are called: nanopb's descriptors carry numbers alone
 */
#ifndef CARTBUS_CORE_NAMES_H
#define CARTBUS_CORE_NAMES_H

#include <pb.h>

const char *field_name(const pb_msgdesc_t *message, uint32_t tag); /* NULL: no such field */
/* The value of an enum field in words, "bought"; NULL: it is not an enum, or a value that we do not know. */
const char *enum_word(const pb_msgdesc_t *message, uint32_t tag, int value);

#endif
