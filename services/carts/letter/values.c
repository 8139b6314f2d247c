/* values.c: see values.h */
#include "services/carts/letter/values.h"

static const struct template_word rows[VALUE_COUNT] = {
	[VALUE_SHOP] = { "shop", .fits_line = true },
	[VALUE_FIRST_NAME] = { "first name", .fits_line = true },
	[VALUE_ITEMS] = { "items", .kind = TEMPLATE_BLOCK },
	[VALUE_ITEM_COUNT] = { "item count", TEMPLATE_NUMBER, .fits_line = true },
	[VALUE_TOTAL] = { "total", .fits_line = true },
	[VALUE_DISCOUNT_CODE] = { "discount code", .fits_line = true },
	[VALUE_DATE] = { "date", .fits_line = true },
	[VALUE_WEEKDAY] = { "weekday", .fits_line = true },
	[VALUE_RETURN_LINK] = { "return link", .kind = TEMPLATE_LINK },
	[VALUE_SHOP_LINK] = { "shop link", .kind = TEMPLATE_LINK },
	[VALUE_UNSUBSCRIBE_LINK] = { "unsubscribe link", .kind = TEMPLATE_LINK },
	[VALUE_POSTAL_ADDRESS] = { .name = "postal address" },
};

const struct template_words voice_values = { rows, VALUE_COUNT };

bool value_is_link(enum value value)
{
	return rows[value].kind == TEMPLATE_LINK;
}
