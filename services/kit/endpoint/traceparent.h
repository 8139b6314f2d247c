/*
 * traceparent.h: in which trace a request is (https://www.w3.org/TR/trace-context)
 *
 * What is begun by a request carries its traceparent to the mail. In one that begins here the parent's id is the first half of the trace's:
 * so an exporter of spans knows that there is no such span.
 */
#ifndef KIT_ENDPOINT_TRACEPARENT_H
#define KIT_ENDPOINT_TRACEPARENT_H

#include "services/kit/web/request.h"

enum { TRACEPARENT_ROOM = 56 };

void traceparent_new(char ret[TRACEPARENT_ROOM]);
/*
 * The request's own, as version 00 and with no flag but "sampled" (section 4.3: what a newer version adds is not passed on); a new one when
 * there is none, more than one, or it is not valid. For requests that are proven: whom nobody knows chooses no trace of ours.
 */
void traceparent_of(const struct request *request, char ret[TRACEPARENT_ROOM]);

#endif
