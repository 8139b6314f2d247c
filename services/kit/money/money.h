/*
 * money.h: amounts in minor units, read from storefronts and shown to shoppers (ICU)
 */
#ifndef KIT_MONEY_MONEY_H
#define KIT_MONEY_MONEY_H

#include <stdbool.h>
#include <stdint.h>

enum { MONEY_MINOR_MAX_DIGITS = 15 }; /* no cart has more */

bool money_currency_valid(const char *currency); /* an ISO 4217 code that ICU knows, upper case */
int money_digits(const char *currency);          /* 2 for EUR, 0 for JPY, 3 for KWD */
/* "12.5", "1200", "-3.00" to minor units, exactly. -EINVAL: not a plain decimal number; -ERANGE: too large or too fine. */
int money_parse(const char *decimal, const char *currency, int64_t *ret_minor);
/* Adds two valid amounts. false: the sum would be invalid, and is unchanged. */
bool money_add(int64_t *sum_minor, int64_t minor);
/* For people, in the locale: "12,50 €". Always terminates; falls back to "12.50 EUR". */
void money_format(int64_t minor, const char *currency, const char *locale, char *ret, int room);
void money_plain(int64_t minor, const char *currency, char *ret, int room); /* for machines: "12.50" */

#endif
