/* suppressions.c: the list of people who must not be mailed, as a service has folded it */
#include "services/kit/suppression/suppressions.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

STATE_NUMBERS(version, "version");

void suppressions_remember(struct state *state, const struct message_meta *said, const Suppression *row)
{
	if (suppressions_version_of(state, said->shop, row->address_hash) > said->version)
		return;
	STATE_PUT_NUMBER(state, version, said->shop, row->address_hash, said->version);
	STATE_PUT(state, suppressions, said->shop, row->address_hash, row);
}

bool suppressions_get(const struct state *state, const char *shop, const char *address_hash, Suppression *ret)
{
	return STATE_GET(state, suppressions, shop, address_hash, ret);
}

uint64_t suppressions_version_of(const struct state *state, const char *shop, const char *address_hash)
{
	return STATE_NUMBER(state, version, shop, address_hash);
}

/* --- the ways onto the list of people who must not be mailed, in words --- */

static const struct way {
	const char *name, *words, *who;
} ways[] = {
	[OPTOUT_PAGE] = { "page", "the shopper unsubscribed on the page", "shopper" },
	[OPTOUT_ONE_CLICK] = { "one-click", "the shopper unsubscribed with one click in the mail program", "shopper" },
	[OPTOUT_OWNER] = { "owner", "the owner unsubscribed the shopper", "owner" },
	[OPTOUT_COMPLAINT] = { "complaint", "the shopper reported a mail as spam", "shopper" },
	[OPTOUT_BOUNCE] = { "bounce", "the address does not exist", "mail server" },
	[OPTOUT_PRIVACY] = { "privacy", "the shopper asked for erasure", "storefront" },
	[OPTOUT_IMPORT] = { "import", "imported from a list of people who unsubscribed elsewhere", "importer" },
};
static const struct way unknown = { "unknown", "unsubscribed", "system" };

static const struct way *way_of(OptoutSource source)
{
	return (size_t)source < sizeof(ways) / sizeof(*ways) ? &ways[source] : &unknown;
}

const char *optout_name(OptoutSource source)
{
	return way_of(source)->name;
}

int optout_named(const char *name, OptoutSource *ret)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, name) == 0) {
			*ret = (OptoutSource)i;
			return 0;
		}
	return -EINVAL;
}

const char *optout_words(OptoutSource source)
{
	return way_of(source)->words;
}

const char *optout_who(OptoutSource source)
{
	return way_of(source)->who;
}

const char *optout_line(const Suppression *row, char ret[OPTOUT_LINE_MAX])
{
	time_t since_s = row ? (time_t)(row->since_us / US_PER_S) : 0;
	char since[40] = "?";
	struct tm utc;

	if (!row) {
		text_copy(ret, OPTOUT_LINE_MAX, "not listed");
		return ret;
	}
	if (gmtime_r(&since_s, &utc))
		strftime(since, sizeof(since), "%Y-%m-%d %H:%M UTC", &utc);
	snprintf(ret, OPTOUT_LINE_MAX, "%s: %s, since %s", row->lifted ? "lifted" : "listed", optout_name(row->source),
		since);
	return ret;
}
