/*
 * check_shop.c: a storefront that signs with the wrong secret, or the old one, has stopped sending, or whose carts cannot be mailed
 *
 * Promises:  strangers' noise beside a storefront that sends well raises nothing: they can make any number.
 * Read next: door.c, astray.c, check.c (the same for the installation)
 */
#include "services/platform/monitor/check_shop.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/platform/monitor/astray.h"
#include "services/platform/monitor/door.h"
#include <stdarg.h>
#include <stdio.h>

enum { BAD_SIGNATURES_LEAST = 3 };

__attribute__((format(printf, 2, 3))) static bool say(Alarm *ret, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(ret->text, sizeof(ret->text), format, arguments);
	va_end(arguments);
	return true;
}

static bool signatures(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct door_hour hour = door_hour(state, shop, now_us);

	return hour.bad_signatures >= BAD_SIGNATURES_LEAST && hour.bad_signatures > hour.authentic &&
		say(ret, "in the last hour %u requests were not signed with this shop's secret, and %u were",
			(unsigned)hour.bad_signatures, (unsigned)hour.authentic);
}

static bool previous_secret(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct door_hour hour = door_hour(state, shop, now_us);

	return hour.previous_secret &&
		say(ret, "in the last hour %u requests were signed with the secret that is being rotated out",
			(unsigned)hour.previous_secret);
}

static bool silent(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct door_silence silence = door_silence(state, shop, now_us);

	return silence.count &&
		say(ret, "nothing has come for %lld hours; the longest pause of four weeks was %lld: %s",
			(long long)(silence.longest_us / US_PER_HOUR), (long long)(silence.usual_us / US_PER_HOUR),
			silence.topics);
}

static const char *carts(uint32_t count)
{
	return count == 1 ? "open cart is" : "open carts are";
}

static bool links(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct astray astray = astray_of(state, shop, now_us);
	char foreign[360] = "", unfit[200] = "";

	if (astray.foreign)
		snprintf(foreign, sizeof(foreign),
			"%u %s not mailed, because the link back to the basket leads to a host that is not the shop's "
			"(%.100s, cart %.70s)",
			(unsigned)astray.foreign, carts(astray.foreign), *astray.host ? astray.host : "none",
			astray.foreign_id);
	if (astray.unfit)
		snprintf(unfit, sizeof(unfit),
			"%u %s not mailed, because the storefront gave no https link back to the basket (cart %.70s)",
			(unsigned)astray.unfit, carts(astray.unfit), astray.unfit_id);
	return (astray.foreign || astray.unfit) && say(ret, "%s%s%s", foreign, *foreign && *unfit ? "; " : "", unfit);
}

static const struct {
	const char *kind, *remedy;
	bool (*is_so)(const struct state *state, const char *shop, int64_t now_us, Alarm *ret);
} conditions[SHOP_CONDITIONS] = {
	[SHOP_SIGNATURES] = { "signatures",
		"compare the secret at the storefront with: cartbus shop secret SHOP. Platforms end a subscription "
		"after some refusals: look there as well",
		signatures },
	[SHOP_PREVIOUS_SECRET] = { "previous-secret",
		"enter the new secret at the storefront (cartbus shop secret SHOP), before the old one is removed",
		previous_secret },
	[SHOP_SILENT] = { "topic-silent",
		"is the subscription still there? cartbus shop check SHOP; platforms delete one after some failures",
		silent },
	[SHOP_LINKS] = { "return-links",
		"if that host is the shop's own, name it in [shop] of its shop.conf: host = HOST, once for each; carts "
		"whose mails are not due yet are mailed then. If it is not, or there is no link: look at what the "
		"storefront sends as recovery URL, cartbus why SHOP CART",
		links },
};

bool check_shop(const struct state *state, const char *shop, enum shop_condition condition, int64_t now_us, Alarm *ret)
{
	*ret = (Alarm){ 0 };
	TEXT_COPY(ret->kind, conditions[condition].kind);
	TEXT_COPY(ret->remedy, conditions[condition].remedy);
	return conditions[condition].is_so(state, shop, now_us, ret);
}
