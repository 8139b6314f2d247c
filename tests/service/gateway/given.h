/* given.h: what the gateway's tests start from: cmocka, fixtures, folders of their own */
#ifndef TESTS_SERVICE_GATEWAY_GIVEN_H
#define TESTS_SERVICE_GATEWAY_GIVEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "bus/base/bytes.h"
#include "services/kit/storefront/event.h"

/* A fixture, with every `from` replaced by `to` (NULL: as it is); a `from` that is not there fails the test. Borrowed until the next call. */
struct bytes fixture(const char *name, const char *from, const char *to);
struct event *fresh_event(void); /* one for all tests: it is large */
char *fresh_folder(void);        /* under /tmp; borrowed until the next call */
void remove_folder(const char *folder);
void write_below(const char *folder, const char *name, const char *text, mode_t mode); /* "secrets/address.key" */
int64_t at_us(const char *moment);                                                     /* "2026-11-20T10:00:00Z" */

#endif
