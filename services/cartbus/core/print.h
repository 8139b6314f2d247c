/*
 * print.h: decoded messages of every topic as JSON
 *
 * Fields that are not set (proto3: zero, empty) are left out, but for enums. Mail addresses and shoppers' names are shown masked.
 */
#ifndef CARTBUS_CORE_PRINT_H
#define CARTBUS_CORE_PRINT_H

#include "bus/actor/topic.h"
#include "bus/base/bytes.h"
#include <jansson.h>

const struct topic *topic_of(const char *name); /* NULL: no such topic */
/* Decodes into a fresh struct of topic->size (the caller's to free). NULL: it does not decode. */
void *payload_decode(const struct topic *topic, struct bytes payload);
json_t *payload_json(const struct topic *topic, struct bytes payload); /* JSON null when it does not decode */
json_t *message_to_json(const struct topic *topic, const void *message);
/* The same without masking, for the person concerned. */
json_t *message_to_clear_json(const struct topic *topic, const void *message);
/* Prints on stdout, indented. NULL, which jansson returns for a text that is not UTF-8, is printed as an error. */
void json_print(const json_t *json);
void json_print_line(const json_t *json); /* the same on one line */
/*
 * Prints {"NAME": [...]}: lists are inside an object, so that members can be added later. Takes ownership of
 * the list.
 */
void json_print_list(const char *name, json_t *list);
/*
 * A text field of the message itself, such as "cart_id"; "" if it has none of that name. Borrowed from the
 * message.
 */
const char *payload_text(const struct topic *topic, const void *message, const char *name);
/* Masks an address, as "h***@shop.example". */
void mask_address(const char *address, char ret[300]);

/*
 * The part of a parser's error about what was expected, without the place "line 3, column 7: expected ",
 * which has fields of its own.
 */
const char *json_expected(const char *text, int line, int column);

#endif
