/*
 * action.c: serves the owner's links of the nightly export
 *
 * Promises:  a GET shows what a link will do, and changes nothing. A POST does it once: the link's id is the
 *            message's idempotency key, which the broker remembers for days; after that the gateway knows the
 *            id from the admin.action messages that it remembers. The audit names "owner by link". A page
 *            names no address.
 * Fails by:  a page and a counter for each case: 400 the form is incomplete; 404 the link is forged, cut, or
 *            of a shop that is not here; 410 it is expired; 409 it was used; 503 the gateway cannot know now
 *            whether it was used, or nothing was recorded.
 * Read next: services/kit/web/admin_link.h, action_page.c
 */
#include "bus/base/text.h"
#include "services/kit/endpoint/page.h"
#include "services/kit/web/admin_link.h"
#include "services/kit/web/form.h"
#include "services/platform/gateway/action_page.h"
#include "services/platform/gateway/gateway.h"
#include <stdio.h>

static void answer_view(struct submission *submission, enum action_page page, unsigned status,
	const struct admin_link *link, int64_t used_us)
{
	struct answer *answer = submission->answer;
	struct shop_branding branding = { 0 };
	struct action_view view = { .link = link,
		.shop = branding.title,
		.zone = branding.zone,
		.locale = branding.locale,
		.accent = branding.accent,
		.used_us = used_us };

	if (page != ACTION_BAD_LINK)
		shop_branding_read(submission->context->shops_folder, link->shop, &branding);
	answer->status = status;
	answer->content_type = "text/html; charset=utf-8";
	action_page_write(page, &view, &answer->body);
}

/* When the link was used, as far as this gateway has heard; 0: it was not used. */
static int64_t used_us(const struct submission *submission, const struct admin_link *link, const char *id)
{
	const struct runtime *runtime = submission->context->runtime;
	const struct state *state = runtime ? runtime_state(runtime) : NULL;

	return state ? (int64_t)STATE_NUMBER(state, used_links, link->shop, id) : 0;
}

/* Has this gateway heard all messages of the log up to now? */
static bool has_heard_all(const struct submission *submission)
{
	const struct runtime *runtime = submission->context->runtime;

	return runtime && runtime_phase(runtime) == RUNTIME_READY;
}

/* The reason must be one line without an address, because it is kept for ever. */
static bool reason_fits(const char *reason)
{
	return reason[strspn(reason, " \t")] && !text_has_control(reason) && text_is_utf8(bytes_of(reason)) &&
		!strchr(reason, '@');
}

static int say_action(struct submission *submission, const char *id, const char *reason)
{
	const struct admin_link *link = submission->kept;
	AdminAction action = {
		.verb = link->verb, .who = "owner by link", .at_us = clock_wall_us(submission->context->clock)
	};
	const char *target = link->cart_id[0] ? link->cart_id : link->address_hash;
	char idem[64];
	struct publish_options how = { .shop = link->shop, .key = target, .idem = idem };

	snprintf(idem, sizeof(idem), "link:%s", id);
	TEXT_COPY(action.cart_id, link->cart_id);
	TEXT_COPY(action.address_hash, link->address_hash);
	TEXT_COPY(action.reason, reason);
	TEXT_COPY(action.link_id, id);
	submission->stop = link->verb != ADMIN_LIFT_SUPPRESSION;
	return submission_publish(submission, &topic_admin_action, &how, NULL, &action);
}

/* true: the action is to be published. */
static bool act(struct submission *submission, const char *id)
{
	const struct admin_link *link = submission->kept;
	struct counters *counters = submission->context->counters;
	struct bytes body = submission->request->body;
	char yes[8], reason[ACTION_REASON_MAX] = "";
	bool needs_reason = link->verb == ADMIN_LIFT_SUPPRESSION;

	if (!form_find(body, "act", yes, sizeof(yes)) || strcmp(yes, "yes") != 0) {
		counters->malformed++;
		answer_view(submission, ACTION_ASK, 400, link, 0);
		return false;
	}
	if (needs_reason && (!form_find(body, "reason", reason, sizeof(reason)) || !reason_fits(reason))) {
		counters->malformed++;
		answer_view(submission, ACTION_ASK_REASON, 400, link, 0);
		return false;
	}
	if (has_heard_all(submission) && say_action(submission, id, reason) == 0)
		return true;
	counters->refused++;
	answer_view(submission, ACTION_NOT_NOW, 503, link, 0);
	return false;
}

static bool read_link(struct submission *submission)
{
	struct endpoint_context *context = submission->context;
	struct bytes key = secrets_admin_key(context->secrets);
	struct admin_link *link = submission_keep(submission, sizeof(*link));
	char id[ADMIN_LINK_ID + 1];
	bool acts = submission->endpoint->methods == ENDPOINT_POST;
	int64_t at_us;

	if (key.len == 0 || admin_link_read(key, submission->names[0], link, id) < 0 ||
		!secrets_shop_is_there(context->secrets, link->shop)) {
		context->counters->links_forged++;
		answer_view(submission, ACTION_BAD_LINK, 404, NULL, 0);
		return false;
	}
	submission->answer->proven = true;
	at_us = used_us(submission, link, id);
	if (at_us) {
		context->counters->links_used++;
		answer_view(submission, ACTION_USED, acts ? 409 : 200, link, at_us);
		return false;
	}
	if (admin_link_expired(link, clock_wall_us(context->clock))) {
		context->counters->links_expired++;
		answer_view(submission, ACTION_EXPIRED, 410, link, 0);
		return false;
	}
	if (acts)
		return act(submission, id);
	answer_view(submission, ACTION_ASK, 200, link, 0);
	return false;
}

static void answer_link(struct submission *submission)
{
	struct counters *counters = submission->context->counters;
	const struct admin_link *link = submission->kept;

	switch (submission->end) {
	case SUBMISSION_ACCEPTED:
	case SUBMISSION_SPOOLED:
		counters->actions++;
		answer_view(submission, ACTION_DONE, 200, link, 0);
		break;
	case SUBMISSION_DUPLICATE:
		counters->links_used++;
		answer_view(submission, ACTION_USED, 409, link, 0);
		break;
	case SUBMISSION_REFUSED:
		counters->refused++;
		answer_view(submission, ACTION_NOT_NOW, 503, link, 0);
		break;
	}
}

const struct endpoint action_endpoints[] = {
	{ "/a/<token>", ENDPOINT_READS, FORM_MOST, .read = read_link },
	{ "/a/<token>", ENDPOINT_POST, FORM_MOST, .read = read_link, .answer = answer_link },
	{ 0 },
};
