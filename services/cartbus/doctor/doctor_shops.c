/*
 * doctor_shops.c: checks whether mailboxes will believe that a shop's mails come from the shop, and whether
 * the links back to its baskets lead to the shop
 *
 * A cart whose link leads to a host that is not the shop's is not mailed. If a shop has its checkout on
 * another domain, none of its carts is mailed.
 *
 * Promises: each domain is asked about once; a name server that is away is reported once, and then nothing is
 *           told of the records. Carts are checked if a message of the last thirty days tells of them, which
 *           is longer than any cart is chased.
 * Read next: mail_records.c (what a record must say), dns.c
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/doctor/dns.h"
#include "services/cartbus/doctor/mail_records.h"
#include "services/cartbus/shops/shops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hear_nothing(const char *words, void *context)
{
	/* the configuration was reported; a user who may not read the log sees no carts */
	(void)words, (void)context;
}

/* ---- links of carts ---- */

enum { DAYS = 30 };

struct looking {
	struct doctor *doctor;
	struct client *client;
	uint64_t from;
	struct shop *shop;
	struct map *astray; /* ids of open carts whose link leads elsewhere */
	char example[72];   /* one of them */
};

static bool look_at_cart(const struct entry *entry, void *context)
{
	struct looking *looking = context;
	_cleanup_free_ CartState *cart = payload_decode(&topic_cart_state, entry->payload);

	if (!cart)
		return true;
	bool is_open = cart->status == CART_OPEN && !*cart->merged_into && *cart->recovery_url;
	if (!is_open || shop_owns_url(looking->shop, cart->platform, cart->recovery_url))
		map_remove(looking->astray, bytes_of(cart->ids.cart_id));
	else
		map_put(looking->astray, bytes_of(cart->ids.cart_id), looking);
	return true;
}

/* It takes the smallest id, so that each run names the same cart. */
static void choose_example(struct bytes id, void *value, void *context)
{
	struct looking *looking = context;
	char name[sizeof(looking->example)];

	(void)value;
	text_copy_bytes(name, sizeof(name), id);
	if (!*looking->example || strcmp(name, looking->example) < 0)
		TEXT_COPY(looking->example, name);
}

static void tell_astray(struct looking *looking, const char *shop)
{
	size_t count = map_count(looking->astray);

	looking->example[0] = '\0';
	map_each(looking->astray, choose_example, looking);
	if (count)
		found(looking->doctor, FINDING_WRONG, "carts",
			"if that host is the shop's, name it as host in [shop] of its shop.conf: until then they are "
			"not mailed",
			"%s: the links back of %zu open %s lead to a host that is not the shop's, that of %s for one",
			shop, count, count == 1 ? "cart" : "carts", looking->example);
}

static void look_at_links(const char *name, void *context)
{
	struct looking *looking = context;
	struct reading_filter filter = { .from = looking->from, .topic = topic_cart_state.name, .shop = name };

	if (command_shop(looking->doctor->command, name, looking->shop) != EXIT_FINE)
		return;
	looking->astray = map_new();
	if (reading_each(looking->doctor->command, looking->client, &filter, look_at_cart, looking) == EXIT_FINE)
		tell_astray(looking, name);
	map_free(looking->astray);
}

void look_at_carts(struct doctor *doctor, struct client *client)
{
	struct looking looking = { .doctor = doctor, .client = client, .shop = malloc(sizeof(*looking.shop)) };
	int64_t since_us = clock_wall_us(&doctor->command->clock) - DAYS * US_PER_DAY, first_us;

	doctor->command->hear = hear_nothing;
	if (looking.shop && reading_find(doctor->command, client, since_us, &looking.from, &first_us) == EXIT_FINE)
		shops_each(doctor->command, look_at_links, &looking);
	doctor->command->hear = NULL;
	free(looking.shop);
}

/* ---- SPF, DKIM and DMARC ---- */

enum { DOMAINS_MAX = 64 };

struct domains {
	struct doctor *doctor;
	struct dns *dns;
	bool is_away;
	int count;
	char asked[DOMAINS_MAX][320]; /* "spf shop.example" */
};

static const char *domain_of(const char *address)
{
	const char *at = strrchr(address, '@');

	return at ? at + 1 : address;
}

static bool is_known(const struct domains *domains, const char *both)
{
	for (int i = 0; i < domains->count; i++)
		if (strcmp(domains->asked[i], both) == 0)
			return true;
	return false;
}

static bool is_new(struct domains *domains, const char *kind, const char *name)
{
	char both[320];

	snprintf(both, sizeof(both), "%s %s", kind, name);
	if (is_known(domains, both))
		return false;
	if (domains->count < DOMAINS_MAX)
		TEXT_COPY(domains->asked[domains->count++], both);
	return true;
}

static void say_away(struct domains *domains, const char *why)
{
	domains->is_away = true;
	found(domains->doctor, FINDING_WRONG, "dns",
		"look at /etc/resolv.conf and the network; without DNS no mail server, storefront or model is found",
		"%s: SPF, DKIM and DMARC were not looked at", why);
}

/* Reports the failure of one domain once. Other domains are still asked about. */
static void say_failed(struct domains *domains, const char *domain, const char *name, const char *why)
{
	if (!is_new(domains, "failed", domain))
		return;
	found(domains->doctor, FINDING_WRONG, "dns",
		"the domain's own name servers are away, refuse, or its DNSSEC does not hold: ask who runs its DNS; "
		"`--resolver` asks another server",
		"%s: %s", name, why);
}

/* false: there was no answer, and it reported that. */
static bool ask(struct domains *domains, const char *domain, const char *name, struct dns_texts *ret)
{
	char why[256];

	if (domains->is_away)
		return false;
	enum dns_end end = dns_texts(domains->dns, name, ret, why);
	if (end == DNS_AWAY)
		say_away(domains, why);
	else if (end == DNS_FAILED)
		say_failed(domains, domain, name, why);
	return end == DNS_FOUND || end == DNS_NOTHING;
}

static void tell_record(struct domains *domains, const char *area, const char *name, const struct record_judgement *one)
{
	static const enum finding findings[] = { [RECORD_GOOD] = FINDING_FINE,
		[RECORD_DOUBTFUL] = FINDING_DOUBTFUL,
		[RECORD_BAD] = FINDING_WRONG,
		[RECORD_NONE] = FINDING_WRONG };

	found(domains->doctor, findings[one->state], area, one->remedy, "%s: %s", name, one->words);
}

/* The server that receives a mail checks the SPF record of the envelope's domain. */
static void look_at_spf(struct domains *domains, const char *domain)
{
	static struct dns_texts texts;
	struct record_judgement one;

	if (!is_new(domains, "spf", domain) || !ask(domains, domain, domain, &texts))
		return;
	spf_judge(&texts, &one);
	tell_record(domains, "spf", domain, &one);
}

static void look_at_dkim(struct domains *domains, const struct shop *shop, const char *domain)
{
	static struct dns_texts texts;
	struct record_judgement one;
	char name[400];

	if (shop->dkim_selector_count == 0 && is_new(domains, "dkim", domain))
		found(domains->doctor, FINDING_DOUBTFUL, "dkim",
			"name it in shop.conf: [mail] dkim-selector; the mail server's settings tell it, or a mail's "
			"DKIM-Signature, as s=",
			"%s: which key its mails are signed with is not known", domain);
	for (int i = 0; i < shop->dkim_selector_count; i++) {
		snprintf(name, sizeof(name), "%s._domainkey.%s", shop->dkim_selectors[i], domain);
		if (!is_new(domains, "dkim", name) || !ask(domains, domain, name, &texts))
			continue;
		dkim_judge(&texts, &one);
		tell_record(domains, "dkim", name, &one);
	}
}

/* If a domain has no record of its own, the record of the domain above it may count. */
static void look_at_dmarc(struct domains *domains, const char *domain)
{
	static struct dns_texts texts;
	struct record_judgement one = { .state = RECORD_NONE };
	char name[400];

	if (!is_new(domains, "dmarc", domain))
		return;
	for (const char *at = domain; one.state == RECORD_NONE && strchr(at, '.'); at = strchr(at, '.') + 1) {
		snprintf(name, sizeof(name), "_dmarc.%s", at);
		if (!ask(domains, domain, name, &texts))
			return;
		dmarc_judge(&texts, &one);
	}
	tell_record(domains, "dmarc", one.state == RECORD_NONE ? domain : name, &one);
}

static void look_at_bounces(struct domains *domains, const char *domain)
{
	char why[256];

	if (domains->is_away || !is_new(domains, "mx", domain))
		return;
	enum dns_end end = dns_takes_mail(domains->dns, domain, why);
	if (end == DNS_AWAY)
		say_away(domains, why);
	else if (end == DNS_FAILED)
		say_failed(domains, domain, domain, why);
	else
		found(domains->doctor, end == DNS_FOUND ? FINDING_FINE : FINDING_WRONG, "mx",
			end == DNS_FOUND
				? ""
				: "add an MX record, or name an address in [mail] bounce of shop.conf that exists",
			"%s, where bounces go: %s", domain, end == DNS_FOUND ? "it takes mail" : "it takes no mail");
}

static void look_at_domains_of(const char *name, void *context)
{
	struct domains *domains = context;
	struct shop *shop = malloc(sizeof(*shop));

	if (shop && command_shop(domains->doctor->command, name, shop) == EXIT_FINE) {
		const char *from = domain_of(shop->from_address),
			   *envelope = shop->bounce[0] ? domain_of(shop->bounce) : from;

		look_at_spf(domains, envelope);
		look_at_dkim(domains, shop, from);
		look_at_dmarc(domains, from);
		look_at_bounces(domains, envelope);
	}
	free(shop);
}

void look_at_domains(struct doctor *doctor)
{
	struct domains domains = { .doctor = doctor };
	char why[256];

	domains.dns = dns_open(doctor->resolver, why);
	if (!domains.dns)
		say_away(&domains, why);
	doctor->command->hear = hear_nothing;
	shops_each(doctor->command, look_at_domains_of, &domains);
	doctor->command->hear = NULL;
	dns_close(domains.dns);
}
