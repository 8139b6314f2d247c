/*
 * message_json.h: decoded messages of every topic as JSON
 *
 * Fields that are not set (proto3: zero, empty) are left out, but for enums. Mail addresses and shoppers' names are shown masked.
 */
#ifndef KIT_WORDS_MESSAGE_JSON_H
#define KIT_WORDS_MESSAGE_JSON_H

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
/*
 * A text field of the message itself, such as "cart_id"; "" if it has none of that name. Borrowed from the
 * message.
 */
const char *payload_text(const struct topic *topic, const void *message, const char *name);
/* A payload as the broker's answers have it; replaces the content of ret. */
void payload_from_base64(const char *base64, struct buffer *ret);
/* Masks an address, as "h***@shop.example". */
void mask_address(const char *address, char ret[300]);

#endif
