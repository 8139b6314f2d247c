/*
 * values.h: what may stand between the braces of a voice
 */
#ifndef CARTS_LETTER_VALUES_H
#define CARTS_LETTER_VALUES_H

#include "services/kit/template/template.h"

/* In the order in which an error names them. */
enum value {
	VALUE_SHOP,
	VALUE_FIRST_NAME,
	VALUE_ITEMS,
	VALUE_ITEM_COUNT,
	VALUE_TOTAL,
	VALUE_DISCOUNT_CODE,
	VALUE_DATE,
	VALUE_WEEKDAY,
	VALUE_RETURN_LINK,
	VALUE_SHOP_LINK,
	VALUE_UNSUBSCRIBE_LINK,
	VALUE_POSTAL_ADDRESS,
	VALUE_COUNT
};

extern const struct template_words voice_values; /* a row for each enum value */

bool value_is_link(enum value value);

#endif
