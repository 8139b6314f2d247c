/*
 * console.c: shows the folded state to people in a browser, and says what they decide
 *
 * Hears:     -
 * Remembers: audit, document, suppression, alarm, shop.status; and what systems register for their pages
 * Says:      admin.action, audit, optout.request, shop.status, alarm
 * Promises:  what a person does is recorded as an audit with that person's name before it is done. A form acts once, however often it is
 *            sent. All folded rows follow from the log; people and their sessions are in no log (people/).
 * Fails by:  refusals in words (http.c); a page that shows what was known last while the broker is away.
 * Read next: http.c (connections), visit.c (from a request to its page), people/sign_in.h, services/kit/console/page.h (rows of pages)
 */
#include "services/console/console.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/console/not_mailed.h"
#include "services/console/status.h"
#include "services/kit/console/page.h"
#include "services/kit/documents/docs.h"

STATE_NUMBERS(done, "done"); /* by the form's name: the number of the first message that it said */

static const char own_keys[] = "console/";

static void remember_audit(struct state *state, const struct message_meta *said, const Audit *audit)
{
	const char *once = said->idem && text_starts(said->idem, own_keys) ? said->idem + strlen(own_keys) : NULL;

	(void)audit;
	if (once && !STATE_HAS(state, done, SHOP_OF_ALL, once))
		STATE_PUT_NUMBER(state, done, SHOP_OF_ALL, once, said->seq);
}

uint64_t console_done(const struct state *state, const char *once)
{
	return STATE_NUMBER(state, done, SHOP_OF_ALL, once);
}

const struct service console_service = {
	.name = "console",
	.exclusive = true,
	.operator_ = true, /* it asks the broker for its status */
	.layout = 1,
	.remembers = REMEMBERING(REMEMBERS_FOR_A_WHILE(audit, remember_audit), REMEMBERS(document, docs_remember),
		NOT_MAILED_REMEMBERED, STATUS_REMEMBERED),
	.remembers_also = registered_page_folds,
	.says = SAYING(SAYS(admin_action), SAYS(audit), SAYS(optout_request), SAYS(shop_status), SAYS(alarm)),
};
