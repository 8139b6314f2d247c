/* message_of_json.h: a message written as JSON by the names of its fields, so that a test's log can be read */
#ifndef TESTS_SERVICE_CARTBUS_MESSAGE_OF_JSON_H
#define TESTS_SERVICE_CARTBUS_MESSAGE_OF_JSON_H

#include "bus/actor/topic.h"
#include <jansson.h>

/* The decoded message, to be freed. Enums by their words. What is no field of it, or does not fit, ends the test. */
void *message_of_json(const struct topic *topic, const json_t *json);

#endif
