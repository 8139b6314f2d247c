/*
 * return_link.c: leads a shopper from a mail back to the basket
 *
 * Promises:  a link leads only to an address that a mail of ours contained. A link's clicks are counted once
 *            a minute, and a program that looks ahead does not count.
 * Fails by:  404 with a page for an invalid link; a click that cannot be counted still leads to the basket.
 * Read next: services/kit/web/signed_link.h
 */
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/carts/endpoints/endpoints.h"
#include "services/kit/endpoint/page.h"
#include "services/kit/web/signed_link.h"
#include <inttypes.h>
#include <stdio.h>

/* true: a browser or mail program loads the page ahead, and the shopper may never open it. */
static bool is_looking_ahead(const struct request *request)
{
	static const char *const names[] = { "Sec-Purpose", "Purpose", "X-Purpose", "X-Moz" };

	if (strcmp(request->method, "HEAD") == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (request_header(request, names[i]))
			return true;
	return false;
}

/* One click a minute of one link is enough to know that it was followed. */
static int say_click(struct submission *submission, const struct signed_link *link)
{
	LinkClicked clicked = { .step = (uint32_t)link->step, .at_us = clock_wall_us(submission->context->clock) };
	char idem[120];
	struct publish_options how = { .shop = link->shop, .key = link->cart_id, .idem = idem };

	TEXT_COPY(clicked.cart_id, link->cart_id);
	snprintf(idem, sizeof(idem), "click:%s/%d/%" PRId64, link->cart_id, link->step, clicked.at_us / US_PER_MINUTE);
	return submission_publish(submission, &topic_link_clicked, &how, NULL, &clicked);
}

static void answer_redirect(const char *location, struct answer *answer)
{
	answer->status = 302;
	answer->content_type = "text/plain; charset=utf-8";
	answer->location = location;
}

/* A shopper gets back to the basket even if the click cannot be counted. */
static bool read_return(struct submission *submission)
{
	struct endpoint_context *context = submission->context;
	const char *to = request_argument(submission->request, "to"), **kept;
	struct signed_link link;

	if (!to ||
		return_link_read_with(secrets_link_keys(context->secrets), clock_wall_us(context->clock),
			submission->names[0], to, &link) < 0) {
		context->counters->malformed++;
		page_answer_bad_link(PAGE_BAD_RETURN, submission->request, submission->answer);
		return false;
	}
	submission->answer->proven = true;
	kept = submission_keep(submission, sizeof(*kept));
	*kept = to;
	if (!is_looking_ahead(submission->request) && say_click(submission, &link) == 0)
		return true;
	answer_redirect(to, submission->answer);
	return false;
}

static void answer_return(struct submission *submission)
{
	const char **to = submission->kept;

	submission->context->counters->clicks += submission->end != SUBMISSION_REFUSED;
	answer_redirect(*to, submission->answer);
}

const struct endpoint carts_return_endpoints[] = {
	{ "/r/<token>", ENDPOINT_READS, FORM_MOST, .read = read_return, .answer = answer_return },
	{ 0 },
};
