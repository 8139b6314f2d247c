/*
 * check_shop.h: what is wrong with one shop: pure functions over what was folded
 */
#ifndef PLATFORM_MONITOR_CHECK_SHOP_H
#define PLATFORM_MONITOR_CHECK_SHOP_H

#include "bus/actor/state.h"
#include "proto/platform_topics.h"

enum shop_condition { SHOP_SIGNATURES, SHOP_PREVIOUS_SECRET, SHOP_SILENT, SHOP_LINKS, SHOP_CONDITIONS };

/* Is it so now? Fills `ret` but for raised and at_us. */
bool check_shop(const struct state *state, const char *shop, enum shop_condition condition, int64_t now_us, Alarm *ret);

#endif
