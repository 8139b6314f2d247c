/* not_mailed.c: folds the list of suppressed shoppers, with an index by time */
#include "services/console/not_mailed.h"
#include <inttypes.h>
#include <stdio.h>

static void key_of(const Suppression *row, char ret[NOT_MAILED_KEY_MAX])
{
	snprintf(ret, NOT_MAILED_KEY_MAX, "%016" PRIx64 "/%.40s", UINT64_MAX - (uint64_t)row->since_us,
		row->address_hash);
}

void not_mailed_remember(struct state *state, const struct message_meta *said, const Suppression *row)
{
	Suppression old, now;
	char key[NOT_MAILED_KEY_MAX];

	if (suppressions_get(state, said->shop, row->address_hash, &old)) {
		key_of(&old, key);
		STATE_DELETE(state, not_mailed_newest, said->shop, key);
	}
	suppressions_remember(state, said, row);
	if (!suppressions_get(state, said->shop, row->address_hash, &now) || now.lifted)
		return;
	key_of(&now, key);
	STATE_PUT_STRING(state, not_mailed_newest, said->shop, key, bytes_of(""));
}

struct walk {
	const struct state *state;
	const char *shop, *after;
	not_mailed_fn *each;
	void *context;
};

static bool step(const char *shop, const char *key, struct bytes value, void *context)
{
	const struct walk *walk = context;
	const char *hash = strchr(key, '/');
	Suppression row;

	(void)shop, (void)value;
	if (strcmp(key, walk->after) == 0 || !hash || !suppressions_get(walk->state, walk->shop, hash + 1, &row))
		return true;
	return walk->each(key, &row, walk->context);
}

void not_mailed_each(const struct state *state, const char *shop, const char *after, not_mailed_fn *each, void *context)
{
	struct walk walk = { state, shop, after, each, context };

	STATE_EACH_FROM(state, not_mailed_newest, shop, after, step, &walk);
}
