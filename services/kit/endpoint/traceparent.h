/*
 * traceparent.h: the trace that a request belongs to (https://www.w3.org/TR/trace-context)
 *
 * All work that a request begins carries its traceparent, up to the mail. In a trace that begins here, the
 * parent's id is the first half of the trace's id, so an exporter of spans knows that there is no such span.
 */
#ifndef KIT_ENDPOINT_TRACEPARENT_H
#define KIT_ENDPOINT_TRACEPARENT_H

#include "services/kit/web/request.h"

enum { TRACEPARENT_ROOM = 56 };

void traceparent_new(char ret[TRACEPARENT_ROOM]);
/*
 * The request's own traceparent, as version 00 and with no flag but "sampled" (section 4.3: additions of
 * newer versions are not passed on). A new one if there is none, more than one, or it is not valid. Use it
 * only for proven requests, because strangers must not choose our traces.
 */
void traceparent_of(const struct request *request, char ret[TRACEPARENT_ROOM]);

#endif
