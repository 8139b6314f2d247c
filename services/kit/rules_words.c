/*
 * rules_words.c: what the words of the rules mean
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/money.h"
#include "services/kit/rules_text.h"
#include <stdio.h>
#include <string.h>

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

int64_t words_unit_us(const char *word)
{
	static const char *const minutes[] = { "minutes", "minute", "mins", "min", NULL };
	static const char *const hours[] = { "hours", "hour", "hrs", "hr", "h", NULL };
	static const char *const days[] = { "days", "day", "d", NULL };

	if (is_one_of(word, minutes))
		return US_PER_MINUTE;
	if (is_one_of(word, hours))
		return US_PER_HOUR;
	return is_one_of(word, days) ? US_PER_DAY : 0;
}

const char *words_unit_name(int64_t unit_us)
{
	return unit_us == US_PER_DAY ? "days" : unit_us == US_PER_HOUR ? "hours" : "minutes";
}

int words_number(const char *word)
{
	static const char *const small[] = { "zero", "one", "two", "three", "four", "five", "six", "seven", "eight",
		"nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
		"eighteen", "nineteen" };
	static const char *const tens[] = { "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty",
		"ninety" };

	for (int i = 0; i < 20; i++)
		if (strcmp(word, small[i]) == 0)
			return i;
	for (int i = 0; i < 8; i++)
		if (strcmp(word, tens[i]) == 0)
			return 20 + 10 * i;
	return -1;
}

int words_size(const char *word)
{
	static const char *const small[] = { "small", "little", NULL };
	static const char *const medium[] = { "medium", "middle", "mid", NULL };
	static const char *const big[] = { "big", "large", NULL };

	if (is_one_of(word, small))
		return SIZE_SMALL;
	if (is_one_of(word, medium))
		return SIZE_MEDIUM;
	return is_one_of(word, big) ? SIZE_BIG : -1;
}

const char *words_size_name(enum cart_size size)
{
	return size == SIZE_SMALL ? "small" : size == SIZE_MEDIUM ? "medium" : "big";
}

/* Signs and names as people write them. `shared`: the currencies that use it too; the shop's own wins if it is among them. */
static const struct {
	const char *word;
	const char *currency; /* NULL: only the shop's own can be meant */
	const char *shared;
} named[] = {
	{ "$", "USD",
		"USD CAD AUD NZD SGD HKD MXN TWD ARS CLP COP BSD BBD BMD BND BZD FJD GYD JMD KYD LRD NAD SBD TTD XCD" },
	{ "dollars", "USD", "USD CAD AUD NZD SGD HKD TWD BSD BBD BMD BND BZD FJD GYD JMD KYD LRD NAD SBD TTD XCD" },
	{ "dollar", "USD", "USD CAD AUD NZD SGD HKD TWD BSD BBD BMD BND BZD FJD GYD JMD KYD LRD NAD SBD TTD XCD" },
	{ "us$", "USD", "" },
	{ "ca$", "CAD", "" },
	{ "c$", "CAD", "" },
	{ "au$", "AUD", "" },
	{ "a$", "AUD", "" },
	{ "nz$", "NZD", "" },
	{ "hk$", "HKD", "" },
	{ "sg$", "SGD", "" },
	{ "s$", "SGD", "" },
	{ "mx$", "MXN", "" },
	{ "r$", "BRL", "" },
	{ "€", "EUR", "" },
	{ "euros", "EUR", "" },
	{ "euro", "EUR", "" },
	{ "£", "GBP", "GBP EGP FKP GIP LBP SHP" },
	{ "pounds", "GBP", "GBP EGP FKP GIP LBP SHP" },
	{ "pound", "GBP", "GBP EGP FKP GIP LBP SHP" },
	{ "¥", "JPY", "JPY CNY" },
	{ "￥", "JPY", "JPY CNY" },
	{ "yen", "JPY", "" },
	{ "yuan", "CNY", "" },
	{ "francs", NULL, "CHF XOF XAF XPF" },
	{ "kr", NULL, "SEK NOK DKK ISK" },
	{ "kronor", "SEK", "" },
	{ "zł", "PLN", "" },
	{ "zloty", "PLN", "" },
	{ "kč", "CZK", "" },
	{ "ft", "HUF", "" },
	{ "₹", "INR", "" },
	{ "rupees", NULL, "INR PKR LKR NPR MUR" },
	{ "₩", "KRW", "" },
	{ "₺", "TRY", "" },
	{ "₴", "UAH", "" },
	{ "₽", "RUB", "" },
	{ "₪", "ILS", "" },
	{ "฿", "THB", "" },
	{ "₫", "VND", "" },
	{ "₱", "PHP", "" },
	{ "₦", "NGN", "" },
};

static bool is_code(const char *word, char ret[4])
{
	if (strlen(word) != 3)
		return false;
	for (int i = 0; i < 3; i++)
		ret[i] = word[i] >= 'a' && word[i] <= 'z' ? (char)(word[i] - 'a' + 'A') : word[i];
	ret[3] = '\0';
	return money_currency_valid(ret);
}

bool words_currency(const char *word, const char *shop_currency, char ret[4])
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		if (strcmp(word, named[i].word) != 0)
			continue;
		bool own = shop_currency && strlen(shop_currency) == 3 && strstr(named[i].shared, shop_currency);
		const char *meant = own ? shop_currency : named[i].currency;
		return meant && text_copy(ret, 4, meant);
	}
	return is_code(word, ret);
}
