/* payload_parts.h: the common parts of the platforms' bodies: people, items, codes, notes */
#ifndef KIT_STOREFRONT_PAYLOAD_PARTS_H
#define KIT_STOREFRONT_PAYLOAD_PARTS_H

#include "services/kit/storefront/event.h"
#include <jansson.h>

/* A platform's names of the parts of an item. NULL: the platform does not have the part. */
struct item_names {
	const char *seen_title,
		*seen_variant_title; /* in the shopper's language; NULL if the platform does not have them */
	const char *title, *variant_title, *sku, *product_id, *variant_id, *quantity, *price, *vendor, *link;
	const char *pictures[4]; /* tried in turn; an object of that name is asked for "url" or "src" */
};

/*
 * Clears an event before a reader fills it. The array of items is large, and only the first items_count
 * entries count, so it is not cleared.
 */
void event_clear(struct event *event);
/* Normalises and hashes an address; an address that we would not mail counts as missing. */
void read_address(const struct event_source *source, const char *text, CartIds *ids);
/* Reads customer_id, a number or a text. 0 is ignored, because every guest has it. */
void read_customer(const json_t *body, CartIds *ids);
/* false: the body has no list of items. */
bool read_items(const json_t *body, const char *list, const struct item_names *names, CartChanged *ret);
void read_codes(const json_t *body, const char *list, CartChanged *ret); /* of texts, or of objects with "code" */
void read_tags(const json_t *body, const char *name, CartChanged *ret);  /* a list, or one text with commas. Adds */
void read_attributes(const json_t *body, const char *list, CartChanged *ret); /* of objects with "name" and "value" */
enum reading unreadable(struct event *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum reading nothing(struct event *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Counts a consent that is neither yes nor no as a no. `words` is a constant for event.doubt. */
void doubt_consent(struct event *event, const char *words);
/* Reads the total and its currency. false: event.why tells what is wrong. */
bool read_total(const json_t *body, const char *total, const char *currency, struct event *event);

#endif
