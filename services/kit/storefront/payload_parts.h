/*
 * payload_parts.h: what the platforms' bodies have in common: people, items, codes, notes
 */
#ifndef KIT_STOREFRONT_PAYLOAD_PARTS_H
#define KIT_STOREFRONT_PAYLOAD_PARTS_H

#include "services/kit/storefront/event.h"
#include <jansson.h>

/* How a platform calls the parts of an item. NULL: it does not have it. */
struct item_names {
	const char *seen_title,
		*seen_variant_title; /* in the shopper's language, where the platform has them; may be NULL */
	const char *title, *variant_title, *sku, *product_id, *variant_id, *quantity, *price, *vendor, *link;
	const char *pictures[4]; /* tried in turn; an object of that name is asked for "url" or "src" */
};

/* Before a reader fills it. The items' room is large, and of it only what items_count counts means anything: it is left as it is. */
void event_clear(struct event *event);
/* Normalises and hashes; an address that we would not mail is as good as none. */
void read_address(const struct event_source *source, const char *text, CartIds *ids);
/* Its customer_id: a number or a text. 0 names nobody: every guest has it. */
void read_customer(const json_t *body, CartIds *ids);
/* false: the body does not speak of items. */
bool read_items(const json_t *body, const char *list, const struct item_names *names, CartChanged *ret);
void read_codes(const json_t *body, const char *list, CartChanged *ret); /* of texts, or of objects with "code" */
void read_tags(const json_t *body, const char *name, CartChanged *ret);  /* a list, or one text with commas. Adds */
void read_attributes(const json_t *body, const char *list, CartChanged *ret); /* of objects with "name" and "value" */
enum reading unreadable(struct event *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum reading nothing(struct event *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A consent that is neither a yes nor a no counts as a no; `words`: a constant, what event.doubt says. */
void doubt_consent(struct event *event, const char *words);
/* The total and its currency; false: event.why says what is wrong with them. */
bool read_total(const json_t *body, const char *total, const char *currency, struct event *event);

#endif
