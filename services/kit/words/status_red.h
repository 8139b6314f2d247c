/*
 * status_red.h: what in the broker's answer to "status" needs a person, in words with the remedy
 */
#ifndef KIT_WORDS_STATUS_RED_H
#define KIT_WORDS_STATUS_RED_H

#include <jansson.h>

/* Appends a text for each cause to the array `red`; none: all is well, as far as the broker knows. */
void status_judge(const json_t *status, json_t *red);

#endif
