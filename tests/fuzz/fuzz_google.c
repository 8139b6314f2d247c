/*
 * fuzz_google.c: whatever Google answers, a token is one header line, a reason is words, and a day's rows are there or not
 *
 * The first byte chooses what was asked: a token, a refused token, a sheet's columns, a document. The rest is the answer.
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/exporter/sheet.h"
#include "services/kit/google/google.h"
#include "services/platform/mirror/fetcher.h"
#include "tests/fuzz/fuzz.h"

static void try_token(struct bytes body)
{
	int64_t lasts_us = -1;
	char *text = NULL;

	if (!google_token_read(body, &text, &lasts_us)) {
		MUST(!text);
		return;
	}
	MUST(text[0] && !text_has_control(text) && lasts_us >= 0 && lasts_us <= US_PER_DAY);
	free(text);
}

static void try_refusal(struct bytes body)
{
	const struct http_answer answer = { .end = HTTP_ANSWERED, .status = 400, .words = "HTTP 400", .body = body };
	char words[256];

	google_refusal_words(&answer, words);
	MUST(memchr(words, 0, sizeof(words)) && text_is_utf8(bytes_of(words)) && !text_has_control(words) &&
		!strchr(words, '@'));
}

/* What is there is found again in what we send. */
static void try_sheet(struct bytes body)
{
	enum sheet_look look = sheet_look(body, "demo", "2025-11-20");

	MUST(look >= SHEET_UNREADABLE && look <= SHEET_WITH);
	MUST(look == SHEET_UNREADABLE || body.len > 2);
}

static void try_document(struct bytes body)
{
	struct buffer text = { 0 };

	fetcher_text(body, &text);
	MUST(text.len <= body.len &&
		(text.len == 0 || !memmem(text.data, text.len, "\r\n", 2) || memmem(body.data, body.len, "\r\r\n", 3)));
	buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	struct bytes body = BYTES(data + 1, size - 1);
	switch (data[0] % 4) {
	case 0:
		try_token(body);
		break;
	case 1:
		try_refusal(body);
		break;
	case 2:
		try_sheet(body);
		break;
	case 3:
		try_document(body);
		break;
	}
	return 0;
}
