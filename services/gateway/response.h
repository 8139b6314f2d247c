/* response.h: an answer as libmicrohttpd sends it */
#ifndef GATEWAY_RESPONSE_H
#define GATEWAY_RESPONSE_H

#include "services/gateway/request.h"
#include <microhttpd.h>

/* Borrows the answer's body, which lives until the response was sent. NULL: the library has no room. */
struct MHD_Response *response_of(const struct answer *answer);

#endif
