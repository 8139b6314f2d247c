/*
 * routes.c: the routes of mailin's own: what comes back of the mails that shops sent
 *
 * A bounce comes to an address that carries the tag of the mail. Feedback loops, and mail servers that answer the address in From,
 * write to any other address of the domain: these get what no other route takes. Both are read as reports.
 */
#include "services/kit/mail/inbound/route.h"
#include "services/platform/mailin/match.h"
#include "services/platform/mailin/report.h"

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
