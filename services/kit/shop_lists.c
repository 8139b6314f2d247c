/*
 * shop_lists.c: is this address, or topic, on one of the owner's lists?
 *
 * Read next: shop.c (how they are read), chase.c
 */
#include "bus/base/text.h"
#include "services/kit/shop.h"

/* "@rival.example" also means mail.rival.example: an owner who bars a company means all of it. */
static bool domain_covers(const char *entry, const char *domain)
{
	size_t own = strlen(entry), len = strlen(domain);

	return len >= own && strcmp(domain + len - own, entry) == 0 && (len == own || domain[len - own - 1] == '.');
}

static bool list_covers(const char (*list)[ADDRESS_MAX + 1], int count, const char *normalised_address)
{
	for (int i = 0; i < count; i++) {
		const char *entry = list[i];
		if (entry[0] == '@' ? domain_covers(entry + 1, address_domain(normalised_address))
				    : strcmp(entry, normalised_address) == 0)
			return true;
	}
	return false;
}

bool shop_trusts_topic(const struct shop *shop, const char *topic_arn)
{
	for (int i = 0; i < shop->sns_topic_count; i++)
		if (strcmp(shop->sns_topics[i], topic_arn) == 0)
			return true;
	return false;
}

bool shop_never_mails(const struct shop *shop, const char *normalised_address)
{
	return list_covers(shop->never, shop->never_count, normalised_address);
}

bool shop_employs(const struct shop *shop, const char *normalised_address)
{
	return list_covers(shop->staff, shop->staff_count, normalised_address);
}
