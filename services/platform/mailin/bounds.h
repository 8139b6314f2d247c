/*
 * bounds.h: may a library take this mail apart?
 */
#ifndef PLATFORM_MAILIN_BOUNDS_H
#define PLATFORM_MAILIN_BOUNDS_H

#include "bus/base/bytes.h"

/* Of a mail, or of a part that is read as headers. NULL: yes; else in words what there is too much of. One pass, no memory. */
const char *bounds_trouble(struct bytes mail);

#endif
