/*
 * not_mailed.c: who must not be mailed by a shop: the list, one address, put on and taken off
 *
 * Promises:  a typed address is hashed at once and stands in no answer and no log. A reason names nobody, because it is kept for ever.
 * Read next: services/console/not_mailed.h; services/cartbus/people/suppressions.c (the command)
 */
#include "services/console/not_mailed.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/console/pages/pages.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/mail/address.h"

extern const struct markup not_mailed_markup, not_mailed_one_markup;

enum { ROWS = 50 };

/* The way onto the list, as a word that the markup can choose by. */
static const char *by_of(OptoutSource source)
{
	return source == OPTOUT_ONE_CLICK ? "mailbox" : optout_name(source);
}

static json_t *row_json(const Suppression *row)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:I,s:b,s:o}", "address_hash", row->address_hash, "source",
		optout_name(row->source), "by", by_of(row->source), "words", optout_words(row->source), "since_us",
		(json_int_t)row->since_us, "lifted", row->lifted, "reason", json_string(row->reason));
}

/* ---- the list ---- */

struct listing {
	json_t *rows;
	char last[NOT_MAILED_KEY_MAX];
	bool more;
};

static bool add_row(const char *key, const Suppression *row, void *context)
{
	struct listing *listing = context;

	if (json_array_size(listing->rows) == ROWS) {
		listing->more = true;
		return false;
	}
	TEXT_COPY(listing->last, key);
	json_array_append_new(listing->rows, row_json(row));
	return true;
}

static bool is_key(const char *text)
{
	return strlen(text) < NOT_MAILED_KEY_MAX && !text[strspn(text, "0123456789abcdef/")];
}

static unsigned query_list(struct page_call *call, json_t *ret)
{
	struct listing listing = { .rows = json_array() };
	const char *after = page_field(call, "after");

	if (!is_key(after)) {
		json_decref(listing.rows);
		return page_refuse(call, 400, "this address belongs to another list: begin at its first page");
	}
	not_mailed_each(call->state, call->shop, after, add_row, &listing);
	json_object_set_new(ret, "shop", json_string(call->shop));
	json_object_set_new(ret, "suppressions", listing.rows);
	json_object_set_new(ret, "next", listing.more ? json_string(listing.last) : json_null());
	json_object_set_new(ret, "may_add", json_boolean(page_may(call, RIGHT_LIST)));
	return 0;
}

/* ---- one address ---- */

static unsigned query_one(struct page_call *call, json_t *ret)
{
	Suppression row;
	json_t *shown;

	if (!suppressions_get(call->state, call->shop, page_name(call, "hash"), &row))
		return page_refuse(call, 404, "this address is not on the list of the shop, and never was");
	shown = row_json(&row);
	json_object_update(ret, shown);
	json_decref(shown);
	json_object_set_new(ret, "shop", json_string(call->shop));
	json_object_set_new(ret, "may_lift", json_boolean(page_may(call, RIGHT_LIFT) && !row.lifted));
	return 0;
}

/* ---- acts ---- */

static unsigned read_address(struct page_call *call, char ret_hash[ADDRESS_HASH_LEN + 1])
{
	_cleanup_(buffer_free_secret) struct buffer key = { 0 };
	char path[256], address[ADDRESS_MAX + 1];

	if (address_normalise(page_field(call, "address"), address) < 0)
		return page_refuse(call, 422, "that is no mail address");
	secret_path(call->config, "address.key", path);
	if (file_read_secret(path, &key) < 0)
		return page_refuse(
			call, 503, "the console cannot read address.key, without which no address is known here");
	address_hash(buffer_bytes(&key), call->shop, address, ret_hash);
	return 0;
}

/* The reason is kept for ever, so it must not name a person. */
static unsigned read_reason(struct page_call *call)
{
	const char *reason = page_field(call, "reason");

	if (*reason && !text_has_control(reason) && !strchr(reason, '@'))
		return 0;
	return page_refuse(call, 422, "%s",
		*reason ? "leave addresses and line ends out of the reason: it is kept for ever"
			: "give a reason, for the record");
}

static unsigned say_action(struct page_call *call, AdminVerb verb, const char *hash)
{
	AdminAction action = { .verb = verb, .at_us = call->now_us };
	unsigned status = read_reason(call);

	if (status)
		return status;
	TEXT_COPY(action.address_hash, hash);
	TEXT_COPY(action.who, call->person);
	TEXT_COPY(action.reason, page_field(call, "reason"));
	PAGE_SAY(call, admin_action, &action, .shop = call->shop, .key = action.address_hash);
	page_then(call, "/s/%s/not-mailed", call->shop);
	return 0;
}

static unsigned act_add(struct page_call *call)
{
	char hash[ADDRESS_HASH_LEN + 1];
	unsigned status = read_address(call, hash);

	return status ? status : say_action(call, ADMIN_UNSUBSCRIBE, hash);
}

static unsigned act_find(struct page_call *call)
{
	char hash[ADDRESS_HASH_LEN + 1];
	unsigned status = read_address(call, hash);

	if (!status)
		page_then(call, "/s/%s/not-mailed/%s", call->shop, hash);
	return status;
}

static unsigned act_lift(struct page_call *call)
{
	Suppression row;

	if (!suppressions_get(call->state, call->shop, page_name(call, "hash"), &row) || row.lifted)
		return page_refuse(call, 409, "this address is not on the list of the shop");
	return say_action(call, ADMIN_LIFT_SUPPRESSION, row.address_hash);
}

const struct page not_mailed_pages[] = {
	{ "/s/<shop>/not-mailed", PAGE_READS, RIGHT_SEE, .markup = &not_mailed_markup, .query = query_list,
		.menu = PAGE_MENU_SHOP, .title = "NotMailed", .help = "owner.md" },
	{ "/s/<shop>/not-mailed/<hash>", PAGE_READS, RIGHT_SEE, .markup = &not_mailed_one_markup, .query = query_one,
		.title = "NotMailed", .help = "owner.md" },
	{ "/s/<shop>/not-mailed/<hash>/lift", PAGE_ACTS, RIGHT_LIFT, .again = true, .act = act_lift },
	{ "/s/<shop>/add-not-mailed", PAGE_ACTS, RIGHT_LIST, .act = act_add },
	{ "/s/<shop>/find-not-mailed", PAGE_ACTS, RIGHT_SEE, .act = act_find },
	{ .path = NULL },
};
