/*
 * unsubscribe.c: serves the link at the foot of each mail
 *
 * Promises:  a GET changes nothing; a POST by a mailbox or by the page's button is an opt-out. The page that
 *            then comes can take back the opt-out that was made on it, and no entry that is on the list for
 *            another reason. The page is in the reader's language, which the browser names, else in the
 *            shop's.
 * Fails by:  a page that says so: 404 the link is not valid, 400 the form is not valid, 409 the entry has
 *            another reason and stays, 503 nothing was recorded.
 * Read next: services/kit/endpoint/page.c, services/platform/unsub/unsub.c (the service that hears the
 *            opt-out)
 */
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/endpoint/page.h"
#include "services/kit/suppression/suppressions.h"
#include "services/kit/web/signed_link.h"
#include "services/platform/gateway/gateway.h"
#include <stdio.h>

struct kept { /* the data that answer_link needs */
	struct signed_link link;
	const struct page_texts *texts;
	bool takes_back;
	int64_t undo_us; /* as of page.h */
};

static void answer_view(enum page page, unsigned status, const struct page_view *view, struct answer *answer)
{
	answer->status = status;
	answer->content_type = "text/html; charset=utf-8";
	page_write(page, view, &answer->body);
}

/* Is this shopper on the list, as far as this gateway has heard? */
static bool listed(const struct submission *submission, const struct signed_link *link, Suppression *ret)
{
	const struct runtime *runtime = submission->context->runtime;
	const struct state *state = runtime ? runtime_state(runtime) : NULL;

	return state && suppressions_get(state, link->shop, link->address_hash, ret) && !ret->lifted;
}

static int say_optout(struct submission *submission, OptoutSource source)
{
	struct kept *kept = submission->kept;
	OptoutRequest asked = { .source = source, .heard_us = clock_wall_us(submission->context->clock) };
	char random[33], idem[64];
	struct publish_options how = { .shop = kept->link.shop, .key = kept->link.address_hash, .idem = idem };

	/* A key per request, not per link: after a suppression was lifted the same link must work again. */
	text_random_name(random);
	snprintf(idem, sizeof(idem), "optout:%s", random);
	TEXT_COPY(asked.address_hash, kept->link.address_hash);
	TEXT_COPY(asked.cart_id, kept->link.cart_id);
	submission->stop = true;
	kept->undo_us = source == OPTOUT_PAGE ? asked.heard_us : 0;
	return submission_publish(submission, &topic_optout_request, &how, NULL, &asked);
}

static int say_taken_back(struct submission *submission, int64_t undo_us)
{
	struct kept *kept = submission->kept;
	int64_t now_us = clock_wall_us(submission->context->clock);
	AdminAction action = { .verb = ADMIN_TAKE_BACK,
		.who = "shopper",
		.reason = "the shopper took it back",
		.at_us = now_us,
		.listed_by_us = undo_us < now_us ? undo_us : now_us };
	char random[33], idem[64];
	struct publish_options how = { .shop = kept->link.shop, .key = kept->link.address_hash, .idem = idem };

	text_random_name(random);
	snprintf(idem, sizeof(idem), "undo:%s", random);
	TEXT_COPY(action.address_hash, kept->link.address_hash);
	TEXT_COPY(action.cart_id, kept->link.cart_id);
	kept->takes_back = true;
	kept->undo_us = undo_us;
	return submission_publish(submission, &topic_admin_action, &how, NULL, &action);
}

static bool refuse_form(struct submission *submission, const struct page_view *view)
{
	submission->context->counters->malformed++;
	answer_view(PAGE_ASK, 400, view, submission->answer);
	return false;
}

static bool act(struct submission *submission, const struct page_view *view)
{
	const struct kept *kept = submission->kept;
	const struct request *request = submission->request;
	Suppression row;
	int64_t undo_us;

	switch (page_posted(request_header(request, "Content-Type"), request->body, &undo_us)) {
	case POST_NOTHING:
		break;
	case POST_BUTTON:
		if (say_optout(submission, OPTOUT_PAGE) == 0)
			return true;
		break;
	case POST_ONE_CLICK:
		if (say_optout(submission, OPTOUT_ONE_CLICK) == 0)
			return true;
		break;
	case POST_UNDO:
		if (listed(submission, &kept->link, &row) && row.source != OPTOUT_PAGE) {
			answer_view(PAGE_FIXED, 409, view, submission->answer);
			return false;
		}
		if (say_taken_back(submission, undo_us) == 0)
			return true;
		break;
	}
	return refuse_form(submission, view);
}

/* A shopper who is already on the list sees that, and may take back an opt-out that was made on this page. */
static void show(const struct submission *submission, const struct signed_link *link, struct page_view *view)
{
	Suppression row;
	bool done = listed(submission, link, &row);

	if (done && row.source == OPTOUT_PAGE)
		view->undo_us = clock_wall_us(submission->context->clock);
	answer_view(done ? PAGE_DONE : PAGE_ASK, 200, view, submission->answer);
}

static bool read_link(struct submission *submission)
{
	struct endpoint_context *context = submission->context;
	struct kept *kept = submission_keep(submission, sizeof(*kept));
	struct shop_branding branding;
	struct page_view view = { .shop = branding.title, .accent = branding.accent };

	if (signed_link_read_with(secrets_link_keys(context->secrets), clock_wall_us(context->clock),
		    submission->names[0], LINK_UNSUBSCRIBE, &kept->link) < 0) {
		context->counters->malformed++;
		page_answer_bad_link(PAGE_BAD_LINK, submission->request, submission->answer);
		return false;
	}
	submission->answer->proven = true;
	shop_branding_read(context->shops_folder, kept->link.shop, &branding);
	kept->texts = page_texts_for(request_header(submission->request, "Accept-Language"), branding.locale);
	view.texts = kept->texts;
	if (submission->endpoint->methods != ENDPOINT_READS)
		return act(submission, &view);
	show(submission, &kept->link, &view);
	return false;
}

static void answer_link(struct submission *submission)
{
	struct counters *counters = submission->context->counters;
	const struct kept *kept = submission->kept;
	struct shop_branding branding;
	struct page_view view = {
		.texts = kept->texts, .shop = branding.title, .accent = branding.accent, .undo_us = kept->undo_us
	};
	Suppression row;

	shop_branding_read(submission->context->shops_folder, kept->link.shop, &branding);
	if (submission->end == SUBMISSION_REFUSED) {
		counters->refused++;
		view.undo_us = kept->takes_back ? kept->undo_us : 0;
		answer_view(PAGE_NOT_NOW, 503, &view, submission->answer);
		return;
	}
	if (kept->takes_back) {
		counters->taken_back++;
		answer_view(PAGE_BACK, 200, &view, submission->answer);
		return;
	}
	counters->optouts++;
	if (listed(submission, &kept->link, &row) && row.source != OPTOUT_PAGE)
		view.undo_us = 0; /* the address was on the list before, and stays there */
	answer_view(PAGE_DONE, 200, &view, submission->answer);
}

const struct endpoint unsubscribe_endpoints[] = {
	{ "/u/<token>", ENDPOINT_READS, FORM_MOST, .read = read_link },
	{ "/u/<token>", ENDPOINT_POST, FORM_MOST, .read = read_link, .answer = answer_link },
	{ 0 },
};
