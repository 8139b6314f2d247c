/*
 * whose_host.c: tells whether the host that a server did not find is the shopper's or ours
 *
 * A server that does not find the sender's domain says so in the words that it uses for a recipient's domain.
 * With a mistake in the shop's DNS each of its shoppers would count as gone.
 *
 * Promises:  it takes back a reason that only the answer's words gave; if the recipient's domain is named as
 *            well, or is ours, it changes nothing.
 * Read next: bounce.c
 */
#include "services/platform/mailin/bounce.h"
#include <gmime/gmime.h>
#include <string.h>
#include <strings.h>

static const char *domain_of(const char *address)
{
	const char *at = strrchr(address, '@');

	return at ? at + 1 : "";
}

/* Is the domain named by itself, not in "workshop.example" nor in an address? */
static bool names_domain(const char *words, const char *domain)
{
	size_t len = strlen(domain);

	for (const char *at = words; len > 0 && (at = strcasestr(at, domain)); at++) {
		const char *behind = at + len;
		bool begins = at == words || !(g_ascii_isalnum(at[-1]) || strchr("@.-", at[-1]));
		bool ends =
			!g_ascii_isalnum(*behind) && *behind != '-' && !(*behind == '.' && g_ascii_isalnum(behind[1]));
		if (begins && ends)
			return true;
	}
	return false;
}

/* Is the recipient's domain this one, or named as well? */
static bool may_mean(const struct bounce *bounce, const char *recipient, const char *domain)
{
	return strcasecmp(domain_of(recipient), domain) == 0 || names_domain(bounce->said, domain_of(recipient));
}

void bounce_hear_ours(struct bounce *bounce, const char *address)
{
	const char *domain = domain_of(address);

	if (bounce->state != BOUNCE_FAILED || bounce->reason != REASON_HOST || !names_domain(bounce->said, domain))
		return;
	for (int i = 0; i < bounce->mailed_count; i++)
		if (may_mean(bounce, bounce->mailed[i], domain))
			return;
	for (int i = 0; i < bounce->told_count; i++)
		if (may_mean(bounce, bounce->told[i].names[0], domain) ||
			may_mean(bounce, bounce->told[i].names[1], domain))
			return;
	bounce->reason = REASON_SENDER;
}
