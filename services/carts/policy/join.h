/*
 * join.h: which cart an event is about: the one pure function that all of them call
 *
 * Two sets of ids belong to the same cart if they share a cart id, cart token, checkout token, checkout id or order id. Addresses
 * and customer ids alone join nothing.
 */
#ifndef CARTS_POLICY_JOIN_H
#define CARTS_POLICY_JOIN_H

#include "platform.pb.h"
#include <stdbool.h>

bool join_same_cart(const CartIds *a, const CartIds *b);

/* The ids that join, as typed names ("ct:abc", "kt:def", "ci:9", "oi:7", "id:x"), for index rows. Returns how many; at most 5. */
enum { JOIN_NAMES_MAX = 5 };
int join_names(const CartIds *ids, char ret[JOIN_NAMES_MAX][80]);

#endif
