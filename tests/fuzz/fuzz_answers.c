/*
 * fuzz_answers.c: whatever a model, SES, or a mail server answers is read, and what is kept of it is words
 *
 * The first byte chooses which, the second the HTTP status, the rest is the answer.
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/mail/message.h"
#include "services/kit/mail/transport.h"
#include "services/kit/model/model.h"
#include "tests/fuzz/fuzz.h"
#include <jansson.h>

static char schema[] =
	"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"string\",\"null\"]},\"b\":{\"type\":\"array\","
	"\"items\":{\"enum\":[1,\"x\"]}}},\"required\":[\"a\"],\"additionalProperties\":false}";

static void try_question(enum model_provider provider, const struct model_request *asked, struct bytes body)
{
	struct model_answer answer;

	if (model_wire_answer(provider, asked, body, &answer) < 0) {
		MUST(answer.words[0] && memchr(answer.words, 0, sizeof(answer.words)) && answer.end != MODEL_ANSWERED);
		MUST(!answer.answered && !answer.text && !answer.json);
		return;
	}
	MUST(answer.answered && answer.end == MODEL_ANSWERED);
	MUST((answer.text == NULL) == (asked->schema != NULL) && (answer.json == NULL) == (asked->schema == NULL));
	if (answer.text)
		MUST(answer.text[0] && strlen(answer.text) <= asked->most_bytes && text_is_utf8(bytes_of(answer.text)));
	model_answer_clear(&answer);
}

static void try_model(enum model_provider provider, struct bytes body)
{
	struct json_t *read;
	char why[MODEL_WORDS_MAX];
	_cleanup_free_ char *text = memory_copy(body);

	try_question(provider, &(struct model_request){ .most_bytes = 100 }, body);
	try_question(provider, &(struct model_request){ .schema = schema, .most_bytes = 100 }, body);
	if (model_schema_read(text, &read, why) < 0)
		return;
	model_schema_is_strict(read);
	model_schema_fits(read, read, why);
	json_decref(read);
}

static void must_be_words(const char *words, size_t room)
{
	MUST(memchr(words, 0, room) && text_is_utf8(bytes_of(words)) && !text_has_control(words) &&
		!strchr(words, '@'));
}

static void try_ses(uint8_t status, struct bytes body)
{
	struct http_answer answer = {
		.end = HTTP_ANSWERED, .status = 200 + 4 * (long)status, .went = true, .body = body
	};
	struct mail_result went = ses_result_of(&answer, true), held = ses_result_of(&answer, false);
	must_be_words(went.words, sizeof(went.words));
	MUST(held.end != MAIL_SENT && held.end != MAIL_UNKNOWN); /* nothing had gone */
	ses_is_throttled(&answer);
}

static void try_reply(struct bytes said)
{
	char words[256], reply[512];
	mail_words(said.data, said.len, words);
	must_be_words(words, sizeof(words));
	if (text_copy_bytes(reply, sizeof(reply), said))
		mail_is_throttled(451, reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct bytes rest = BYTES(data + 2, size - 2);
	switch (data[0] % 5) {
	case 0:
		try_model(MODEL_BEDROCK, rest);
		break;
	case 1:
		try_model(MODEL_ANTHROPIC, rest);
		break;
	case 2:
		try_model(MODEL_OPENAI, rest);
		break;
	case 3:
		try_ses(data[1], rest);
		break;
	case 4:
		try_reply(rest);
		break;
	}
	return 0;
}
