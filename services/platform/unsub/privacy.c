/*
 * privacy.c: keeps the privacy requests of storefronts until they are done
 *
 * Owns:      privacy.state: one row per request, a tombstone when it is settled.
 * Promises:  a request to erase a person puts the address on the list at once; every request stands, with an
 *            alarm of its shop, until a person says that it was done; the same request twice is one.
 * Fails by:  dead-lettering a request without an id.
 * Read next: services/kit/storefront/shopify_privacy.c (reads the requests),
 *            services/cartbus/people/privacy.c (settles them)
 */
#include "bus/base/text.h"
#include "services/kit/suppression/suppressions.h"
#include "services/platform/unsub/unsub.h"
#include <stdio.h>

struct open {
	uint32_t count;
	const char *but;          /* the id of a request that does not count; NULL: none */
	const char *address_hash; /* the ids of this hash's requests go into `matching`; NULL: none */
	struct buffer matching;   /* each id ends with a NUL */
};

static bool count_open(const char *shop, const char *key, const PrivacyState *row, void *context)
{
	struct open *open = context;

	(void)shop;
	if (row->settled || (open->but && strcmp(open->but, key) == 0))
		return true;
	open->count++;
	if (open->address_hash && strcmp(open->address_hash, row->request.address_hash) == 0)
		buffer_add(&open->matching, key, strlen(key) + 1);
	return true;
}

static void say_alarm(struct turn *turn, uint32_t open)
{
	const char *shop = turn_message(turn)->shop;
	Alarm alarm = { .kind = "privacy", .raised = open > 0, .at_us = turn_now_us(turn) };

	if (open > 0) {
		snprintf(alarm.text, sizeof(alarm.text),
			"%u request%s of shop %s to erase somebody, or to tell what is known of him, not done yet",
			(unsigned)open, open == 1 ? "" : "s", shop);
		snprintf(alarm.remedy, sizeof(alarm.remedy),
			"cartbus privacy list %s shows them; then cartbus erase or cartbus export, and cartbus privacy "
			"done. The platforms give 30 days",
			shop);
	} else {
		snprintf(alarm.text, sizeof(alarm.text), "all privacy requests of shop %s are settled", shop);
	}
	SAY(turn, alarm, &alarm, .shop = shop, .key = alarm.kind, .version = (uint64_t)alarm.at_us);
}

static void say_row(struct turn *turn, PrivacyState *row)
{
	row->has_request = true;
	row->version++;
	SAY(turn, privacy_state, row, .shop = turn_message(turn)->shop, .key = row->request.request_id,
		.version = row->version, .tombstone = row->settled);
}

static const char *action_of(PrivacyKind kind)
{
	switch (kind) {
	case PRIVACY_REDACT_CUSTOMER:
		return "erasure_asked";
	case PRIVACY_REDACT_SHOP:
		return "shop_erasure_asked";
	case PRIVACY_DATA_REQUEST:
		return "data_asked";
	}
	return "privacy_asked";
}

static void audit(struct turn *turn, const PrivacyRequest *request, const char *action, const char *who,
	const char *grounds, bool settled)
{
	list_audit(turn, request->address_hash,
		&(struct note){ .action = action,
			.who = who,
			.grounds = grounds,
			.before = settled ? "open" : "not asked",
			.after = settled ? "settled" : "open" });
}

enum verdict privacy_hear(const struct state *state, const PrivacyRequest *request, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	PrivacyState row = { .request = *request };
	struct open open = { .but = request->request_id };
	char grounds[160];

	if (!*request->request_id)
		return turn_dead_letter(turn, "a privacy request needs an id");
	if (STATE_HAS(state, privacy_rows, shop, request->request_id))
		return TURN_DONE;
	if (request->kind == PRIVACY_REDACT_CUSTOMER && *request->address_hash)
		list_person(state, turn,
			&(struct listing){ .address_hash = request->address_hash,
				.source = OPTOUT_PRIVACY,
				.since_us = request->heard_us });
	STATE_EACH(state, privacy_rows, shop, NULL, count_open, &open);
	say_row(turn, &row);
	snprintf(grounds, sizeof(grounds), "request %s by %s%s", request->request_id,
		*request->platform_topic ? request->platform_topic : "the storefront",
		*request->address_hash || request->kind == PRIVACY_REDACT_SHOP ? "" : "; it names no mail address");
	audit(turn, request, action_of(request->kind), "storefront", grounds, false);
	say_alarm(turn, open.count + 1);
	return TURN_DONE;
}

static void settle_one(const struct state *state, const char *id, const AdminAction *action, struct turn *turn)
{
	PrivacyState row;

	if (!STATE_GET(state, privacy_rows, turn_message(turn)->shop, id, &row) || row.settled)
		return;
	row.settled = true;
	row.settled_us = turn_now_us(turn);
	TEXT_COPY(row.who, action->who);
	TEXT_COPY(row.reason, action->reason);
	say_row(turn, &row);
	audit(turn, &row.request, "privacy_settled", action->who, action->reason, true);
}

enum verdict privacy_settle(const struct state *state, const AdminAction *action, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	struct open before = { .address_hash = action->address_hash }, after = { 0 };

	if (!*action->request_id && !*action->address_hash)
		return turn_dead_letter(turn, "settling a privacy request needs its id, or the address it is about");
	STATE_EACH(state, privacy_rows, shop, NULL, count_open, &before);
	if (*action->request_id)
		settle_one(state, action->request_id, action, turn);
	else
		for (const char *id = buffer_text(&before.matching), *end = id + before.matching.len; id < end;
			id += strlen(id) + 1)
			settle_one(state, id, action, turn);
	buffer_free(&before.matching);
	STATE_EACH(state, privacy_rows, shop, NULL, count_open, &after);
	if (after.count < before.count)
		say_alarm(turn, after.count);
	return TURN_DONE;
}

void privacy_remember(struct state *state, const struct message_meta *said, const PrivacyState *fact)
{
	const char *id = fact->request.request_id;
	PrivacyState known;

	if (STATE_GET(state, privacy_rows, said->shop, id, &known) && known.version > fact->version)
		return;
	STATE_PUT(state, privacy_rows, said->shop, id, fact);
}
