/*
 * api.h: a request to the API of a shop's storefront
 *
 * The secret is the file api/<shop> below [paths] secrets: Shopify's and BigCommerce's access token, WooCommerce's
 * "consumer key:consumer secret".
 */
#ifndef KIT_STOREFRONT_API_H
#define KIT_STOREFRONT_API_H

#include "services/kit/http/http.h"
#include "services/kit/shop/shop.h"

enum { STOREFRONT_TIME_MAX = 32 };

/* Makes a request with the platform's form of the secret, "Accept: application/json", and its deadline. */
int storefront_request(const struct shop *shop, const char *method, struct http_request *ret, const char *path_format,
	...) __attribute__((format(printf, 4, 5)));
void storefront_time(int64_t us, char ret[STOREFRONT_TIME_MAX]); /* 2026-11-21T02:00:00, UTC, without a zone */
/* Percent-encodes a word for a query. false: it does not fit. */
bool storefront_encode(const char *word, char *ret, size_t room);

#endif
