/*
 * chunks.h: is a chunked body, as it lies before us, one that can be read in one way only? (RFC 9112 section 7.1)
 */
#ifndef KIT_WEB_CHUNKS_H
#define KIT_WEB_CHUNKS_H

#include "bus/base/bytes.h"

/*
 * How many bytes of `data` the whole body takes, its last empty line included; 0: the end has not come yet. -EBADMSG: *ret_why says why.
 * Stricter than the RFC: a size is 1 to 8 hexadecimal digits, every line ends with CRLF, and there are no extensions and no trailers,
 * which libmicrohttpd 0.9.75 reads loosely and which no sender of ours uses.
 */
long chunks_end(struct bytes data, const char **ret_why);

#endif
