/*
 * money.c: converts decimal text to minor units and back, exactly
 *
 * Owns:      a few of ICU's formatters, each for one locale and currency.
 * Promises:  an amount is never a floating-point number here. What money_parse() reads, money_plain() writes.
 * Fails by:  -EINVAL and -ERANGE; formatting always gives a text that a shopper can read.
 */
#include "services/kit/money/money.h"
#include "bus/base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unicode/ucurr.h>
#include <unicode/uloc.h>
#include <unicode/unum.h>
#include <unicode/ustring.h>

enum { LOCALE_ROOM = 64, SHOWN_ROOM = 128, FORMATTERS_KEPT = 16 };
static const int64_t most_minor = INT64_C(999999999999999); /* MONEY_MINOR_MAX_DIGITS of them */

/*
 * CLDR shows these currencies without a fraction, because their coins are not used. But ISO 4217 gives them
 * one, and storefronts send it ("1234.50" RSD), so cartbus counts as ISO does.
 */
static const struct {
	char code[4];
	int digits;
} iso_digits[] = { { "AFN", 2 }, { "ALL", 2 }, { "IQD", 3 }, { "IRR", 2 }, { "KPW", 2 }, { "LAK", 2 }, { "LBP", 2 },
	{ "MGA", 2 }, { "MMK", 2 }, { "RSD", 2 }, { "SLL", 2 }, { "SOS", 2 }, { "SYP", 2 }, { "YER", 2 } };

static bool currency_in_u16(const char *currency, UChar ret[4])
{
	if (strlen(currency) != 3)
		return false;
	for (int i = 0; i < 4; i++)
		ret[i] = (UChar)currency[i];
	return true;
}

static bool is_test_or_metal(const char *currency)
{
	return currency[0] == 'X' && strcmp(currency, "XAF") && strcmp(currency, "XCD") && strcmp(currency, "XOF") &&
		strcmp(currency, "XPF") && strcmp(currency, "XCG");
}

bool money_currency_valid(const char *currency)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar code[4];

	for (const char *c = currency; *c; c++)
		if (*c < 'A' || *c > 'Z')
			return false;
	if (!currency_in_u16(currency, code) || is_test_or_metal(currency))
		return false;
	return ucurr_isAvailable(code, U_DATE_MIN, U_DATE_MAX, &error) && U_SUCCESS(error) &&
		ucurr_getNumericCode(code) != 0;
}

int money_digits(const char *currency)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar code[4];

	for (size_t i = 0; i < sizeof(iso_digits) / sizeof(*iso_digits); i++)
		if (strcmp(iso_digits[i].code, currency) == 0)
			return iso_digits[i].digits;
	if (!currency_in_u16(currency, code))
		return 2;
	int digits = ucurr_getDefaultFractionDigits(code, &error);
	return U_FAILURE(error) ? 2 : digits;
}

/* Appends one digit; -ERANGE: more than MONEY_MINOR_MAX_DIGITS digits. */
static int add_digit(int64_t *minor, int *count, char digit)
{
	if (*minor > 0 || digit != '0')
		(*count)++;
	if (*count > MONEY_MINOR_MAX_DIGITS)
		return -ERANGE;
	*minor = *minor * 10 + (digit - '0');
	return 0;
}

static int parse_whole(const char **text, int64_t *minor, int *count)
{
	if (**text < '0' || **text > '9')
		return -EINVAL;
	for (; **text >= '0' && **text <= '9'; (*text)++)
		if (add_digit(minor, count, **text) < 0)
			return -ERANGE;
	return 0;
}

/* Takes zeros past the currency's digits, as storefronts send them ("1200.00" JPY), but no other digits. */
static int parse_fraction(const char **text, int digits, int64_t *minor, int *count)
{
	const char *point = *text;
	int given = 0;

	if (*point == '.')
		for ((*text)++; **text >= '0' && **text <= '9'; (*text)++, given++) {
			if (given >= digits && **text != '0')
				return -ERANGE;
			if (given < digits && add_digit(minor, count, **text) < 0)
				return -ERANGE;
		}
	if (*point == '.' && given == 0)
		return -EINVAL;
	for (; given < digits; given++)
		if (add_digit(minor, count, '0') < 0)
			return -ERANGE;
	return 0;
}

static bool is_plain_decimal(const char *text)
{
	text += *text == '-';
	size_t whole = strspn(text, "0123456789");
	text += whole;
	if (whole == 0 || *text == '\0')
		return whole > 0;
	size_t fraction = *text == '.' ? strspn(text + 1, "0123456789") : 0;
	return fraction > 0 && text[1 + fraction] == '\0';
}

bool money_add(int64_t *sum_minor, int64_t minor)
{
	int64_t sum = *sum_minor + minor;

	if (sum > most_minor || sum < -most_minor)
		return false;
	*sum_minor = sum;
	return true;
}

int money_parse(const char *decimal, const char *currency, int64_t *ret_minor)
{
	bool negative = decimal[0] == '-';
	int64_t minor = 0;
	int count = 0;

	if (!is_plain_decimal(decimal))
		return -EINVAL;
	decimal += negative;
	int err = parse_whole(&decimal, &minor, &count);
	if (err == 0)
		err = parse_fraction(&decimal, money_digits(currency), &minor, &count);
	if (err < 0)
		return err;
	*ret_minor = negative ? -minor : minor;
	return 0;
}

void money_plain(int64_t minor, const char *currency, char *ret, int room)
{
	int digits = money_digits(currency);
	uint64_t size = minor < 0 ? -(uint64_t)minor : (uint64_t)minor;
	uint64_t unit = 1;

	for (int i = 0; i < digits; i++)
		unit *= 10;
	if (digits == 0)
		snprintf(ret, (size_t)room, "%s%" PRIu64, minor < 0 ? "-" : "", size);
	else
		snprintf(ret, (size_t)room, "%s%" PRIu64 ".%0*" PRIu64, minor < 0 ? "-" : "", size / unit, digits,
			size % unit);
}

/* Converts "de-DE", as storefronts write it, or "de_DE" to the form that ICU wants. */
static void locale_for_icu(const char *locale, char ret[LOCALE_ROOM])
{
	UErrorCode error = U_ZERO_ERROR;
	int32_t used = 0;

	int32_t len = uloc_forLanguageTag(locale, ret, LOCALE_ROOM, &used, &error);
	if (U_SUCCESS(error) && len > 0 && len < LOCALE_ROOM && (size_t)used == strlen(locale))
		return;
	error = U_ZERO_ERROR;
	len = uloc_canonicalize(locale, ret, LOCALE_ROOM, &error);
	if (U_FAILURE(error) || len >= LOCALE_ROOM)
		snprintf(ret, LOCALE_ROOM, "en");
}

static bool has_fraction(const char *plain)
{
	const char *point = strchr(plain, '.');

	return point && point[1 + strspn(point + 1, "0")] != '\0';
}

/* ICU needs longer to open a formatter than the rest of a mail takes, so the last few are kept. */
struct formatter {
	char locale[LOCALE_ROOM], currency[4];
	bool fraction;
	UNumberFormat *format; /* NULL: ICU has none */
};

static void formatter_open(struct formatter *formatter, const char *locale, const char *currency, bool fraction)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar code[4];
	char name[LOCALE_ROOM];

	unum_close(formatter->format);
	*formatter = (struct formatter){ .fraction = fraction };
	TEXT_COPY(formatter->locale, locale);
	TEXT_COPY(formatter->currency, currency);
	if (!currency_in_u16(currency, code))
		return;
	locale_for_icu(locale, name);
	UNumberFormat *format = unum_open(UNUM_CURRENCY, NULL, 0, name, NULL, &error);
	unum_setTextAttribute(format, UNUM_CURRENCY_CODE, code, 3, &error);
	if (U_SUCCESS(error) && fraction)
		unum_setAttribute(format, UNUM_FRACTION_DIGITS, money_digits(currency));
	if (U_SUCCESS(error))
		formatter->format = format;
	else
		unum_close(format);
}

static UNumberFormat *formatter_for(const char *locale, const char *currency, bool fraction)
{
	static struct formatter kept[FORMATTERS_KEPT];
	static size_t oldest;

	for (size_t i = 0; i < FORMATTERS_KEPT; i++)
		if (kept[i].fraction == fraction && strcmp(kept[i].locale, locale) == 0 &&
			strcmp(kept[i].currency, currency) == 0)
			return kept[i].format;
	struct formatter *formatter = &kept[oldest++ % FORMATTERS_KEPT];
	formatter_open(formatter, locale, currency, fraction);
	return formatter->format;
}

static bool format_with(const UNumberFormat *format, const char *plain, char *ret, int room)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar shown[SHOWN_ROOM];
	int32_t bytes = 0;

	int32_t len = unum_formatDecimal(format, plain, -1, shown, SHOWN_ROOM, NULL, &error);
	if (U_FAILURE(error) || len >= SHOWN_ROOM)
		return false;
	u_strToUTF8(ret, room, &bytes, shown, len, &error);
	return U_SUCCESS(error) && bytes < room;
}

void money_format(int64_t minor, const char *currency, const char *locale, char *ret, int room)
{
	char plain[40];

	money_plain(minor, currency, plain, sizeof(plain));
	if (strlen(locale) >= LOCALE_ROOM)
		locale = "en";
	UNumberFormat *format = formatter_for(locale, currency, has_fraction(plain));
	if (!format || !format_with(format, plain, ret, room))
		snprintf(ret, (size_t)room, "%s %s", plain, currency);
}
