/*
 * fuzz_lmtp.c: whatever is said over LMTP, in whatever pieces, is answered line by line, and no mail is taken for nobody
 *
 * The first byte says how long the pieces are.
 */
#include "services/platform/mailin/lmtp.h"
#include "services/platform/mailin/report.h"
#include "tests/fuzz/fuzz.h"

static struct lmtp *lmtp;

static enum lmtp_knows knows(void *self, const char *recipient)
{
	(void)self;
	return strstr(recipient, "@shop.example") ? LMTP_KNOWN : LMTP_UNKNOWN;
}

static void take(void *self, const struct lmtp_mail *mail)
{
	const char *text = mail->bytes.data;
	size_t len = mail->bytes.len;

	(void)self;
	MUST(mail->count > 0 && mail->count <= LMTP_RECIPIENTS_MOST && len <= REPORT_BYTES_MOST);
	MUST(len == 0 || (text[len - 1] == '\n' && len > 1));
	for (size_t i = 0; i < len; i++)
		MUST((text[i] != '\n' || (i > 0 && text[i - 1] == '\r')) &&
			(text[i] != '\r' || (i + 1 < len && text[i + 1] == '\n')));
	for (int i = 0; i < mail->count; i++)
		MUST(strstr(mail->recipients[i], "@shop.example"));
	if (len % 2)
		lmtp_answer(lmtp, "250 2.0.0 ok"); /* at once, or later */
}

static void must_be_replies(struct buffer *out)
{
	MUST(out->len == 0 || out->data[out->len - 1] == '\n');
	for (size_t i = 0; i < out->len; i++)
		MUST(out->data[i] == '\r' || out->data[i] == '\n' || (out->data[i] >= ' ' && out->data[i] <= '~'));
	out->len = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lmtp_owner owner = { .knows = knows, .take = take };
	size_t piece = size > 0 ? (size_t)data[0] + 1 : 1;

	lmtp = lmtp_new(&owner);
	for (size_t at = 1; at < size && !lmtp_has_ended(lmtp); at += piece) {
		lmtp_hear(lmtp, BYTES(data + at, size - at < piece ? size - at : piece));
		must_be_replies(lmtp_out(lmtp));
		if (lmtp_waits(lmtp))
			lmtp_answer(lmtp, "451 4.3.0 come again");
	}
	must_be_replies(lmtp_out(lmtp));
	lmtp_free(lmtp);
	return 0;
}
