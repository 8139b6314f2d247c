/* suppressions.c: who must not be mailed, as a service has folded it */
#include "services/kit/suppression/suppressions.h"

STATE_NUMBERS(version, "version");

void suppressions_remember(struct state *state, const struct message_meta *said, const Suppression *row)
{
	if (suppressions_version(state, said->shop, row->address_hash) > said->version)
		return;
	STATE_PUT_NUMBER(state, version, said->shop, row->address_hash, said->version);
	STATE_PUT(state, suppressions, said->shop, row->address_hash, row);
}

bool suppressions_get(const struct state *state, const char *shop, const char *address_hash, Suppression *ret)
{
	return STATE_GET(state, suppressions, shop, address_hash, ret);
}

uint64_t suppressions_version(const struct state *state, const char *shop, const char *address_hash)
{
	return STATE_NUMBER(state, version, shop, address_hash);
}
