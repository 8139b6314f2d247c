/*
 * humane.h: numbers as people read them in a table: short
 */
#ifndef CARTBUS_CORE_HUMANE_H
#define CARTBUS_CORE_HUMANE_H

#include <stdint.h>

enum { HUMANE_ROOM = 16 };

/* Each returns `ret`. */
const char *humane_count(double number, char ret[HUMANE_ROOM]);    /* "312", "12.3k", "4.1M" */
const char *humane_rate(double per_second, char ret[HUMANE_ROOM]); /* "0", "0.3", "312", "12.3k"; negative: "-" */
const char *humane_bytes(double bytes, char ret[HUMANE_ROOM]);     /* "812K", "41.2G" */
const char *humane_age(int64_t us, char ret[HUMANE_ROOM]);         /* "3s", "4min", "2h", "5d" */

#endif
