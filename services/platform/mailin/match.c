/*
 * match.c: finds the shopper whose mail came back
 *
 * A mail can be forged, so it counts only with a proof that its sender was given a mail of ours. Each proof
 * names the shopper by the keyed hash; the addresses in the report itself are never believed. The proofs are:
 *
 *   - An address with our signed tag. If a shop has such addresses, a bounce comes back to one, so the bounce
 *     needs the tag.
 *   - The Message-ID of a mail that we sent: it is signed, so no stranger can compute another's. It is enough
 *     for a complaint, which mailbox providers send to an address of their own choice, and for a bounce if
 *     the shop has no tags.
 *   - The Message-ID as 0.1.0 wrote it. Anybody who knows the cart's number can compute it, and such mails
 *     are out for some weeks after an upgrade. So it counts only with the signed unsubscribe link from the
 *     headers of the same mail, which come back with it, as long as the key that signed it verifies
 *     (keyring.h): shop, shopper, cart and step of the link must be those of the mail that we sent.
 *
 * Owns:      the table mail ((shop, local part of the Message-ID) -> struct mail_row).
 * Read next: services/kit/mail/bounce_tag.h
 */
#include "services/platform/mailin/match.h"
#include "bus/base/text.h"
#include "services/kit/documents/docs.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/mail/inbound/route.h"
#include "services/kit/mail/message.h"
#include "services/kit/web/signed_link.h"
#include "services/platform/mailin/report.h"
#include <stdio.h>
#include <strings.h>

enum { LOCAL_MAX = 64 };

struct mail_row {
	char address_hash[40], cart_id[72];
	uint32_t step, unused;
};
STATE_STRUCTS(mails, "mail", struct mail_row);

static void local_part(const char *message_id, char ret[LOCAL_MAX])
{
	text_copy_bytes(ret, LOCAL_MAX, BYTES(message_id, strcspn(message_id, "@")));
}

void match_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	struct mail_row row;
	char local[LOCAL_MAX];

	if (outcome->to_owner || !outcome->message_id[0])
		return;
	memset(&row, 0, sizeof(row));
	TEXT_COPY(row.address_hash, outcome->address_hash);
	TEXT_COPY(row.cart_id, outcome->cart_id);
	row.step = outcome->step;
	local_part(outcome->message_id, local);
	STATE_PUT(state, mails, said->shop, local, &row);
}

/* ---- every shop ---- */

struct search {
	const struct state *state;
	const struct keyring *keys;
	int64_t now_us;
	const struct report *report;
	char *shop;
	MailFeedback *feedback;
	bool found;
};

static void take_row(struct search *search, const struct mail_row *row)
{
	TEXT_COPY(search->feedback->address_hash, row->address_hash);
	TEXT_COPY(search->feedback->cart_id, row->cart_id);
	search->feedback->step = row->step;
	search->found = true;
}

struct tagged {
	const struct bounce_tag *tag;
	struct mail_row row;
};

static bool row_of_tag(const char *shop, const char *key, const struct mail_row *row, void *context)
{
	struct tagged *tagged = context;

	(void)shop, (void)key;
	if (strcmp(row->address_hash, tagged->tag->address_hash) != 0)
		return true;
	tagged->row = *row;
	return false;
}

/* The tag alone is proof. The cart is known only as long as the mail is remembered. */
static void take_tag(struct search *search, const char *shop, const struct bounce_tag *tag)
{
	struct tagged tagged = { .tag = tag };
	char prefix[2 + BOUNCE_MAIL_LEN + 1];

	snprintf(prefix, sizeof(prefix), "%d.%s", tag->step, tag->mail);
	STATE_EACH(search->state, mails, shop, prefix, row_of_tag, &tagged);
	TEXT_COPY(tagged.row.address_hash, tag->address_hash);
	tagged.row.step = (uint32_t)tag->step;
	take_row(search, &tagged.row);
}

static void search_tags(struct search *search, const struct shop *shop, struct bytes key)
{
	struct bounce_tag tag;

	for (int i = 0; i < search->report->address_count && !search->found; i++)
		if (bounce_address_read(key, shop->bounce, shop->name, search->report->addresses[i], &tag) == 0)
			take_tag(search, shop->name, &tag);
}

static bool link_is_of(const struct search *search, const char *token, const char *shop, const struct mail_row *row)
{
	struct signed_link link;

	return signed_link_read_with(search->keys, search->now_us, token, LINK_UNSUBSCRIBE, &link) == 0 &&
		strcmp(link.shop, shop) == 0 && strcmp(link.cart_id, row->cart_id) == 0 &&
		link.step == (int)row->step && strcmp(link.address_hash, row->address_hash) == 0;
}

static bool has_link_of(const struct search *search, const char *shop, const struct mail_row *row)
{
	for (int i = 0; i < REPORT_LINKS_MOST && search->report->links[i][0]; i++)
		if (link_is_of(search, search->report->links[i], shop, row))
			return true;
	return false;
}

/* Does the report prove that its sender was given the mail of ours that it names? */
static bool is_proof(
	const struct search *search, const struct shop *shop, const char *local, const struct mail_row *row)
{
	char by_anybody[MAIL_LOCAL_MAX];

	mail_local_make(shop->name, row->cart_id, (int)row->step, by_anybody);
	if (strcmp(local, by_anybody) == 0)
		return has_link_of(search, shop->name, row);
	return search->report->feedback == FEEDBACK_COMPLAINT || !strchr(shop->bounce, '*');
}

static void search_message_ids(struct search *search, const struct shop *shop)
{
	struct mail_row row;
	char local[LOCAL_MAX];

	for (int i = 0; i < search->report->message_id_count && !search->found; i++) {
		local_part(search->report->message_ids[i], local);
		if (STATE_GET(search->state, mails, shop->name, local, &row) && is_proof(search, shop, local, &row))
			take_row(search, &row);
	}
}

/* A shop has a row for each of its texts; only the row of its shop.conf counts. */
static bool search_shop(const char *name, const char *kind, void *context)
{
	struct search *search = context;
	const struct shop *shop;
	struct bytes secret;

	if (strcmp(kind, "shop") != 0)
		return true;
	shop = docs_shop(search->state, name);
	if (!shop)
		return true;
	for (int at = 0; !search->found && (secret = keyring_next(search->keys, search->now_us, &at)).len;)
		search_tags(search, shop, secret);
	search_message_ids(search, shop);
	if (search->found)
		text_copy(search->shop, 64, name);
	return !search->found;
}

bool match_find(const struct state *state, const struct keyring *keys, int64_t now_us, const struct report *report,
	char ret_shop[64], MailFeedback *ret)
{
	struct search search = {
		.state = state, .keys = keys, .now_us = now_us, .report = report, .shop = ret_shop, .feedback = ret
	};

	*ret = (MailFeedback){ .kind = report->feedback, .heard_us = now_us };
	TEXT_COPY(ret->detail, report->detail);
	STATE_EACH_KEY(state, document_digests, NULL, NULL, search_shop, &search);
	return search.found;
}

/* ---- the addresses that mail servers may deliver to ---- */

struct domain {
	const struct state *state;
	const char *domain;
	bool found;
};

static bool is_domain_of(const char *name, const char *kind, void *context)
{
	struct domain *domain = context;
	const struct shop *shop = strcmp(kind, "shop") == 0 ? docs_shop(domain->state, name) : NULL;
	const char *at = shop ? strrchr(shop->bounce, '@') : NULL;

	domain->found = at && strcasecmp(at + 1, domain->domain) == 0;
	return !domain->found;
}

bool match_knows(const struct state *state, const char *address)
{
	struct domain domain = { .state = state, .domain = address_domain(address) };

	STATE_EACH_KEY(state, document_digests, NULL, NULL, is_domain_of, &domain);
	return domain.found;
}

/* ---- the domains of shops ---- */

struct at_domain {
	const struct state *state;
	const char *domain, *shop; /* shop NULL: any */
	char *first;
	int count;
};

static bool count_domain(const char *name, const char *kind, void *context)
{
	struct at_domain *at_domain = context;
	const struct shop *shop = strcmp(kind, "shop") == 0 ? docs_shop(at_domain->state, name) : NULL;
	const char *at = shop ? strrchr(shop->bounce, '@') : NULL;

	if (!at || strcasecmp(at + 1, at_domain->domain) != 0 ||
		(at_domain->shop && strcmp(at_domain->shop, name) != 0))
		return true;
	if (at_domain->count++ == 0 && at_domain->first)
		text_copy(at_domain->first, 64, name);
	return true;
}

int match_shops_at(const struct state *state, const char *domain, char ret_first[64])
{
	struct at_domain at_domain = { .state = state, .domain = domain, .first = ret_first };

	STATE_EACH_KEY(state, document_digests, NULL, NULL, count_domain, &at_domain);
	return at_domain.count;
}

bool match_shop_has(const struct state *state, const char *shop, const char *domain)
{
	struct at_domain at_domain = { .state = state, .domain = domain, .shop = shop };

	STATE_EACH_KEY(state, document_digests, shop, NULL, count_domain, &at_domain);
	return at_domain.count > 0;
}

struct tag_search {
	const struct state *state;
	const char *address;
	bool found;
};

static bool is_bounce_address_of(const char *name, const char *kind, void *context)
{
	struct tag_search *search = context;
	const struct shop *shop = strcmp(kind, "shop") == 0 ? docs_shop(search->state, name) : NULL;
	struct bounce_tag tag;

	search->found = shop && *shop->bounce &&
		(strcasecmp(shop->bounce, search->address) == 0 ||
			bounce_address_read_unverified(shop->bounce, search->address, &tag));
	return !search->found;
}

/* Is it a shop's bounce address, with a tag of the right shape or without a star? The tag is not verified. */
static bool match_is_bounce_address(const struct state *state, const char *address)
{
	struct tag_search search = { .state = state, .address = address };

	STATE_EACH_KEY(state, document_digests, NULL, NULL, is_bounce_address_of, &search);
	return search.found;
}

/*
 * mailin's own routes, for mails of shops that come back
 *
 * A bounce comes to an address with the tag of the mail. Feedback loops, and mail servers that answer the
 * address in From, write to any other address of the domain; their route takes the mails that no other route
 * takes. Both routes read reports.
 */

extern const struct mail_route mailin_mail_routes[];

static bool is_bounce(const struct state *state, const char *recipient, char ret_shop[MAIL_ROUTE_SHOP_MAX + 1])
{
	ret_shop[0] = '\0';
	return match_is_bounce_address(state, recipient);
}

static bool is_of_a_shops_domain(
	const struct state *state, const char *recipient, char ret_shop[MAIL_ROUTE_SHOP_MAX + 1])
{
	ret_shop[0] = '\0';
	return match_knows(state, recipient);
}

const struct mail_route mailin_mail_routes[] = {
	{ .name = "bounces", .judge = is_bounce, .bytes_most = REPORT_BYTES_MOST },
	{ .name = "feedback-loop", .judge = is_of_a_shops_domain, .takes_rest = true, .bytes_most = REPORT_BYTES_MOST },
	{ .name = NULL },
};
