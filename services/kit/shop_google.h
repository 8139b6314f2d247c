/* shop_google.h: the sections of shop.conf that name a spreadsheet and documents of Google; inside shop_policy.c only */
#ifndef KIT_SHOP_GOOGLE_H
#define KIT_SHOP_GOOGLE_H

#include "services/kit/shop_policy.h"

/* -EINVAL: *ret_mistake says what is wrong with which key. */
int shop_read_google(const struct config *config, struct shop *shop, struct shop_mistake *ret_mistake);

#endif
