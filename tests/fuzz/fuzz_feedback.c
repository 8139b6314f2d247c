/*
 * fuzz_feedback.c: whatever is posted as SNS, told as an event of SES, or comes back as a mail is read, or refused with a reason
 *
 * The first byte chooses which, the rest is the bytes.
 */
#include "bus/base/text.h"
#include "services/kit/http/sns.h"
#include "services/platform/gateway/ses_event.h"
#include "services/platform/gateway/sns.h"
#include "services/platform/mailin/report.h"
#include "tests/fuzz/fuzz.h"

static void must_be_words(const char *text)
{
	MUST(text_is_utf8(bytes_of(text)) && !text_has_control(text) && !strchr(text, '@'));
}

static void try_sns(struct bytes body)
{
	struct sns sns;
	char why[200] = "";
	if (sns_parse(body, &sns, why) < 0) {
		MUST(why[0]);
	} else {
		MUST(sns.covered.len > 0 && sns.signature.len > 0 && sns.message_id[0] && sns.topic_arn[0]);
		MUST(!text_has_control(sns.message_id) && !text_has_control(sns.topic_arn));
		sns_certificate_url_valid(sns.certificate_url, sns.topic_arn);
		sns_subscribe_url_valid(sns.subscribe_url, sns.topic_arn);
	}
	sns_clear(&sns);
}

static void try_event(struct bytes message)
{
	static struct ses_event event;
	char why[200] = "", again[ADDRESS_MAX + 1], name[MAIL_LOCAL_MAX];
	if (ses_event_parse(message, &event, why) < 0) {
		MUST(why[0]);
		return;
	}
	MUST(event.count > 0 || event.words[0]);
	MUST(!event.message_id[0] || (mail_local_read(event.message_id, name) && strcmp(name, event.message_id) == 0));
	for (int i = 0; i < event.count; i++) {
		MUST(address_normalise(event.recipients[i].address, again) == 0);
		must_be_words(event.recipients[i].detail);
	}
}

static void try_report(struct bytes mail)
{
	static struct report report;
	static bool ready;
	if (!ready)
		report_init();
	ready = true;
	report_read(mail, &report);
	must_be_words(report.detail);
	MUST(report.kind == REPORT_FEEDBACK || !report.detail[0] || report.kind == REPORT_NOTHING);
	MUST(report.address_count <= REPORT_NAMES_MOST && report.message_id_count <= REPORT_NAMES_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const tries[])(struct bytes) = { try_sns, try_event, try_report };
	if (size > 0)
		tries[data[0] % 3](BYTES(data + 1, size - 1));
	return 0;
}
