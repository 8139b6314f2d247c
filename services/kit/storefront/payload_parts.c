/*
 * payload_parts.c: reads the common parts of the platforms' bodies: people, items, codes, notes
 *
 * Promises:  a list that is longer than its room in the message is cut; of items and tags the rest is
 *            counted. An invalid amount is never passed on as an amount.
 */
#include "services/kit/storefront/payload_parts.h"
#include "bus/base/text.h"
#include "services/kit/mail/address.h"
#include "services/kit/storefront/fields.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUANTITY_MOST = 1000000 };

void event_clear(struct event *event)
{
	const size_t items = offsetof(struct event, changed.items), behind = items + sizeof(event->changed.items);

	memset(event, 0, items);
	memset((char *)event + behind, 0, sizeof(*event) - behind);
}

void read_address(const struct event_source *source, const char *text, CartIds *ids)
{
	char normalised[ADDRESS_MAX + 1];

	if (!text || !*text)
		return;
	if (address_normalise(text, normalised) < 0) {
		ids->email_unusable = !*ids->email;
		return;
	}
	ids->email_unusable = false;
	TEXT_COPY(ids->email, normalised);
	address_hash(source->address_key, source->shop, normalised, ids->email_hash);
}

void read_customer(const json_t *body, CartIds *ids)
{
	field_id(body, "customer_id", ids->customer_id, sizeof(ids->customer_id));
	if (strcmp(ids->customer_id, "0") == 0)
		ids->customer_id[0] = '\0';
}

static void read_picture(const json_t *item, const struct item_names *names, Item *ret)
{
	for (int i = 0; i < 4 && names->pictures[i]; i++) {
		const json_t *object = field_object(item, names->pictures[i]);

		if (field_https(item, names->pictures[i], ret->picture, sizeof(ret->picture)) ||
			field_https(object, "url", ret->picture, sizeof(ret->picture)) ||
			field_https(object, "src", ret->picture, sizeof(ret->picture)))
			return;
	}
}

/*
 * 0: the line is gone from the cart. A quantity that is no number, also not as a text, counts as one piece.
 * Fractions are rounded up.
 */
static uint32_t read_quantity(const json_t *item, const char *name)
{
	const json_t *field = json_object_get(item, name);
	double quantity = json_number_value(field);

	if (json_is_string(field)) {
		const char *text = json_string_value(field);
		char *end;
		quantity = strtod(text, &end);
		if (end == text || *end || !isfinite(quantity))
			return 1;
	} else if (!json_is_number(field)) {
		return 1;
	}
	if (quantity <= 0)
		return 0;
	return quantity > QUANTITY_MOST ? QUANTITY_MOST : (uint32_t)ceil(quantity);
}

static void read_title(const json_t *item, const char *seen, const char *plain, char *ret, size_t room)
{
	if (!seen || !field_text(item, seen, ret, room))
		field_text(item, plain, ret, room);
}

static bool read_item(const json_t *item, const struct item_names *names, const char *currency, Item *ret)
{
	*ret = (Item)Item_init_zero;
	if (!json_is_object(item))
		return false;
	ret->quantity = read_quantity(item, names->quantity);
	if (ret->quantity == 0)
		return false;
	read_title(item, names->seen_title, names->title, ret->title, sizeof(ret->title));
	read_title(
		item, names->seen_variant_title, names->variant_title, ret->variant_title, sizeof(ret->variant_title));
	if (strcmp(ret->variant_title, "Default Title") == 0) /* Shopify's value if there are no variants */
		ret->variant_title[0] = '\0';
	field_text(item, names->sku, ret->sku, sizeof(ret->sku));
	field_id(item, names->product_id, ret->product_id, sizeof(ret->product_id));
	field_id(item, names->variant_id, ret->variant_id, sizeof(ret->variant_id));
	if (!currency[0] || field_money(item, names->price, currency, &ret->price_minor) != 1)
		ret->price_minor = 0; /* the mail shows the item without a price */
	if (names->vendor)
		field_text(item, names->vendor, ret->vendor, sizeof(ret->vendor));
	if (names->link)
		field_https(item, names->link, ret->link, sizeof(ret->link));
	read_picture(item, names, ret);
	return true;
}

bool read_items(const json_t *body, const char *list, const struct item_names *names, CartChanged *ret)
{
	const json_t *items = field_list(body, list);
	const size_t most = sizeof(ret->items) / sizeof(ret->items[0]);
	static Item left_out;

	if (!items)
		return false;
	ret->has_items = true;
	for (size_t i = 0; i < json_array_size(items); i++) {
		bool fits = ret->items_count < most;
		Item *item = fits ? &ret->items[ret->items_count] : &left_out;

		if (!read_item(json_array_get(items, i), names, ret->currency, item))
			continue;
		ret->items_count += fits;
		ret->items_left_out += !fits;
	}
	return true;
}

void read_codes(const json_t *body, const char *list, CartChanged *ret)
{
	const json_t *codes = field_list(body, list);
	const size_t most = sizeof(ret->discount_codes) / sizeof(ret->discount_codes[0]);

	for (size_t i = 0; i < json_array_size(codes) && ret->discount_codes_count < most; i++) {
		const json_t *code = json_array_get(codes, i);
		const char *text = json_string_value(json_is_object(code) ? json_object_get(code, "code") : code);

		if (!text || !*text || field_has_control(bytes_of(text), true))
			continue;
		TEXT_COPY(ret->discount_codes[ret->discount_codes_count], text);
		ret->discount_codes_count++;
	}
}

void read_attributes(const json_t *body, const char *list, CartChanged *ret)
{
	const json_t *attributes = field_list(body, list);
	const size_t most = sizeof(ret->note_attributes) / sizeof(ret->note_attributes[0]);

	for (size_t i = 0; i < json_array_size(attributes) && ret->note_attributes_count < most; i++) {
		const json_t *attribute = json_array_get(attributes, i);
		Attribute *to = &ret->note_attributes[ret->note_attributes_count];

		if (field_text(attribute, "name", to->name, sizeof(to->name))) {
			field_text(attribute, "value", to->value, sizeof(to->value));
			ret->note_attributes_count++;
		}
	}
}

/* Adds a tag, cut between characters. [exclude] tag in shop.conf cannot name a tag that does not fit. */
static void add_tag(const char *tag, size_t len, CartChanged *ret)
{
	const size_t most = sizeof(ret->tags) / sizeof(ret->tags[0]);
	char whole[256];

	while (len > 0 && *tag == ' ')
		tag++, len--;
	while (len > 0 && tag[len - 1] == ' ')
		len--;
	text_copy_bytes(whole, sizeof(whole), BYTES(tag, len));
	if (!*whole || field_has_control(bytes_of(whole), true))
		return;
	if (ret->tags_count >= most) {
		ret->tags_left_out++;
		return;
	}
	TEXT_COPY(ret->tags[ret->tags_count], whole);
	ret->tags_count++;
}

void read_tags(const json_t *body, const char *name, CartChanged *ret)
{
	const char *text = field_word(body, name);
	const json_t *list = field_list(body, name);

	for (; text && *text; text += *text == ',') {
		size_t len = strcspn(text, ",");
		add_tag(text, len, ret);
		text += len;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *tag = json_string_value(json_array_get(list, i));
		if (tag)
			add_tag(tag, strlen(tag), ret);
	}
}

bool read_total(const json_t *body, const char *total, const char *currency, struct event *event)
{
	CartChanged *changed = &event->changed;
	int given;

	if (!changed->currency[0] && field_currency(body, currency, changed->currency) < 0) {
		unreadable(event, "the field %s is not a currency (three letters of ISO 4217, like EUR)", currency);
		return false;
	}
	if (!changed->currency[0]) {
		const json_t *amount = json_object_get(body, total);

		if (!amount || json_is_null(amount))
			return true;
		unreadable(event, "a total without a currency: the field %s is missing", currency);
		return false;
	}
	given = field_money(body, total, changed->currency, &changed->total_minor);
	changed->has_total = given == 1;
	if (given < 0)
		unreadable(event,
			"the field %s is not an amount in %s: a decimal number from 0 up, like \"12.50\", was expected",
			total, changed->currency);
	return given >= 0;
}

void doubt_consent(struct event *event, const char *words)
{
	event->doubt = words;
	event->changed.consent = CONSENT_NO;
	event->changed.consent_unreadable = true;
}

bool event_keep_no(struct event *event)
{
	CartChanged *changed = &event->changed;

	if (changed->consent != CONSENT_NO || !event_key(&changed->ids)[0])
		return false;
	changed->has_items = changed->has_total = changed->has_wait_override = changed->saved_link = false;
	changed->items_count = changed->discount_codes_count = changed->note_attributes_count = changed->tags_count = 0;
	changed->items_left_out = changed->tags_left_out = 0;
	changed->total_minor = 0;
	changed->currency[0] = changed->recovery_url[0] = changed->first_name[0] = changed->locale[0] = '\0';
	return true;
}

static void __attribute__((format(printf, 2, 0))) say_why(struct event *event, const char *format, va_list arguments)
{
	vsnprintf(event->why, sizeof(event->why), format, arguments);
}

enum reading unreadable(struct event *event, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say_why(event, format, arguments);
	va_end(arguments);
	return READ_UNREADABLE;
}

enum reading nothing(struct event *event, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say_why(event, format, arguments);
	va_end(arguments);
	return READ_NOTHING;
}

const char *event_key(const CartIds *ids)
{
	const char *names[] = { ids->cart_id, ids->cart_token, ids->checkout_token, ids->checkout_id, ids->order_id };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i][0])
			return names[i];
	return "";
}
