/*
 * transport_ses.c: mails over the API of Amazon SES, version 2 (SendEmail with the whole message as it was composed)
 *
 * Owns:      the HTTP client of its own, and of each mail on its way the request and its body.
 * Promises:  the claim is asked for when all but the last byte of the body is out; without a yes the connection is cut and SES never had
 *            the mail. An error that a mail cannot be blamed for (our credentials, our account, our configuration) spends no mail.
 * Fails by:  mail_result per mail; die() at start on settings that cannot work. After the last byte an answer that does not say
 *            whether SES took it (500, 502, 504, none) is unknown and never repeated.
 * Read next: services/kit/http.h, transport_ses_answer.c (what the answers mean)
 */
#include "bus/base/cleanup.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http.h"
#include "services/kit/mail_compose.h"
#include "services/kit/transport.h"
#include <errno.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdlib.h>

#define ANSWER_WITHIN_US (10 * US_PER_MINUTE) /* what the claim may wait included; below the sender's own deadline */

struct ses {
	struct effect_driver driver;
	struct http_client *client;
	char endpoint[256], region[32], configuration_set[80], ca[256];
	struct list jobs;
	struct list unfit; /* jobs; told so in work() */
};

struct job {
	struct list hook;
	struct ses *ses;
	struct effect *effect;
	struct http_request request;
	struct http_call *call; /* NULL: unfit */
	bool went;              /* the last byte was let go, or never held */
};

static void job_free(struct job *job)
{
	if (!job)
		return;
	list_remove(&job->hook);
	http_call_stop(job->call);
	http_request_clear(&job->request);
	free(job);
}

static void end(struct job *job, const struct mail_result *result)
{
	struct effect *effect = job->effect;
	job->call = NULL; /* gone already */
	job_free(job);
	effect_done(effect, result);
}

/* ---- the request ---- */

static json_t *encoded(struct bytes mime)
{
	char *text = memory_new(4 * (mime.len + 2) / 3 + 1);
	int len = EVP_EncodeBlock((unsigned char *)text, mime.data, (int)mime.len);
	json_t *ret = json_stringn(text, (size_t)len);
	free(text);
	return ret;
}

/* The recipient is the envelope's, whatever the headers say. */
static int write_body(const struct ses *ses, const struct mail *mail, struct buffer *ret)
{
	json_t *body = json_pack("{s:{s:{s:o}},s:{s:[s]}}", "Content", "Raw", "Data",
		encoded(buffer_bytes(&mail->mime)), "Destination", "ToAddresses", mail->envelope_to);
	if (body && ses->configuration_set[0])
		json_object_set_new(body, "ConfigurationSetName", json_string(ses->configuration_set));
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	if (text)
		buffer_add_text(ret, text);
	free(text);
	json_decref(body);
	return ret->len > 0 ? 0 : -EINVAL;
}

static int write_request(const struct ses *ses, const struct mail *mail, struct http_request *ret)
{
	if (!mail_envelope_valid(mail->envelope_to) || !mail_lines_valid(buffer_bytes(&mail->mime)))
		return -EINVAL;
	int r = http_request_init(ret, "POST", "%s/v2/email/outbound-emails", ses->endpoint);
	if (r == 0)
		r = http_request_header(ret, "Content-Type", "application/json");
	if (r == 0)
		r = write_body(ses, mail, &ret->body);
	ret->auth.kind = HTTP_AUTH_SIGV4;
	TEXT_COPY(ret->auth.secret, "ses.key");
	TEXT_COPY(ret->auth.region, ses->region);
	TEXT_COPY(ret->auth.service, "ses");
	TEXT_COPY(ret->ca, ses->ca);
	ret->deadline_us = ANSWER_WITHIN_US;
	ret->reach = HTTP_REACH_ADMIN;
	ret->holds = mail->claim;
	ret->wanted[0] = SES_ERROR_HEADER;
	return r;
}

/* ---- the call ---- */

static void on_held(void *context, struct http_call *call)
{
	const struct job *job = context;
	(void)call;
	effect_claim(job->effect);
}

static bool on_may_go(void *context)
{
	struct job *job = context;
	job->went = effect_may_go(job->effect);
	return job->went;
}

static void on_done(void *context, const struct http_answer *answer)
{
	struct job *job = context;
	struct mail_result result = ses_result_of(answer, job->went);
	end(job, &result);
}

static const struct http_caller caller = { .held = on_held, .may_go = on_may_go, .done = on_done };

/* ---- the driver ---- */

static void ses_start(void *self, struct effect *effect, const void *request)
{
	struct ses *ses = self;
	const struct mail *mail = request;
	struct job *job = memory_new(sizeof(*job));
	job->ses = ses;
	job->effect = effect;
	job->went = !mail->claim;
	bool fit = write_request(ses, mail, &job->request) == 0;
	list_append(fit ? &ses->jobs : &ses->unfit, &job->hook);
	if (fit)
		job->call = http_call_new(ses->client, &job->request, &caller, job);
}

static struct job *find(struct ses *ses, const struct effect *effect)
{
	struct list *const lists[] = { &ses->jobs, &ses->unfit };
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		LIST_EACH (hook, lists[i]) {
			struct job *job = LIST_ENTRY(hook, struct job, hook);
			if (job->effect == effect)
				return job;
		}
	return NULL;
}

static void ses_proceed(void *self, struct effect *effect, bool go)
{
	const struct job *job = find(self, effect);
	if (job && job->call)
		http_call_proceed(job->call, go);
}

static void ses_stop(void *self, struct effect *effect)
{
	job_free(find(self, effect));
}

static int ses_fd(void *self)
{
	return http_client_fd(((struct ses *)self)->client);
}

static int64_t ses_wait_us(void *self)
{
	struct ses *ses = self;
	return list_empty(&ses->unfit) ? http_client_wait_us(ses->client) : 0;
}

static void ses_work(void *self)
{
	struct ses *ses = self;
	struct mail_result unfit =
		mail_result_of(MAIL_REFUSED, "ses", "not a mail that may be sent: its lines or its envelope");
	LIST_EACH_SAFE (hook, &ses->unfit)
		end(LIST_ENTRY(hook, struct job, hook), &unfit);
	http_client_work(ses->client);
}

static void ses_close(void *self)
{
	struct ses *ses = self;
	LIST_EACH_SAFE (hook, &ses->jobs)
		job_free(LIST_ENTRY(hook, struct job, hook));
	LIST_EACH_SAFE (hook, &ses->unfit)
		job_free(LIST_ENTRY(hook, struct job, hook));
	http_client_free(ses->client);
	free(ses);
}

static bool region_valid(const char *region)
{
	return *region && strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(region);
}

struct effect_driver *transport_ses_new(const struct ses_settings *settings)
{
	struct ses *ses = memory_new(sizeof(*ses));
	if (!settings->region || !region_valid(settings->region) || !TEXT_COPY(ses->region, settings->region))
		die("[mail] ses-region is missing or is none: name the region of SES, as eu-central-1");
	if (settings->endpoint && !text_starts(settings->endpoint, "https://"))
		die("[mail] ses-endpoint = %s: expected an https URL", settings->endpoint);
	if (settings->endpoint)
		TEXT_COPY(ses->endpoint, settings->endpoint);
	else
		snprintf(ses->endpoint, sizeof(ses->endpoint), "https://email.%s.amazonaws.com", ses->region);
	TEXT_COPY(ses->configuration_set, settings->configuration_set ? settings->configuration_set : "");
	TEXT_COPY(ses->ca, settings->ca ? settings->ca : "");
	list_init(&ses->jobs);
	list_init(&ses->unfit);
	ses->client = http_client_new(&settings->http);
	ses->driver = (struct effect_driver){ .name = "mail",
		.self = ses,
		.start = ses_start,
		.proceed = ses_proceed,
		.stop = ses_stop,
		.fd = ses_fd,
		.wait_us = ses_wait_us,
		.work = ses_work,
		.close = ses_close };
	return &ses->driver;
}
