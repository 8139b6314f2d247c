/*
 * cors.h: the headers that let scripts of other origins read an answer
 */
#ifndef KIT_ENDPOINT_CORS_H
#define KIT_ENDPOINT_CORS_H

#include "services/kit/endpoint/endpoint.h"

/*
 * Is the origin one of the list, as "https://shop.example https://www.shop.example:8443", with blanks or commas between? Compared byte
 * for byte, as a browser writes it. "null" is every sandboxed page and every file, so it is never listed; there is no wildcard.
 */
bool cors_origin_is_listed(const char *list, const char *origin);

/* Adds the headers to an answer of a submission that has a `cors`. An origin that is not allowed gets `Vary` alone. */
void cors_dress(struct submission *submission);
/* Answers OPTIONS: 204 with `Allow`, and what a preflight asks for. cors_dress completes it. */
void cors_answer_options(struct submission *submission);

#endif
