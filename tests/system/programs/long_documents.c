/*
 * long_documents.c: cartbus-test-mirror: the mirror as it is, with one more kind of documents, "policy", of up to 256 KiB
 *
 * It takes the mirror's place in a running system, under its name. It is linked instead of registered_documents.
 */
#include "bus/base/memory.h"
#include "services/carts/letter/voice.h"
#include "services/carts/policy/rules_document.h"
#include "services/kit/documents/docs.h"
#include <stdio.h>
#include <stdlib.h>

static void *parse_policy(const struct document_text *text, const char *with)
{
	(void)with;
	return memory_copy_text(text->text);
}

static void judge_policy(const struct document_text *text, struct document_opinion *ret)
{
	size_t len = strlen(text->text);

	if (len < 7 || strcmp(text->text + len - 7, "The end") != 0) /* so that a cut text would be seen */
		snprintf(ret->wrong, sizeof(ret->wrong), "the policy does not end with its last words");
}

static const struct document_kind policy_document = { .name = "policy",
	.ending = ".txt",
	.bytes_max = DOCUMENT_BYTES_MAX,
	.is_optional = true,
	.without = "the shop has no policy",
	.reading = { parse_policy, free },
	.judge = judge_policy };
static const struct document_kind *const tests_documents[] = { &policy_document, &rules_document, &voice_document,
	NULL };

const struct document_kind *const *const registered_documents[] = { tests_documents, kit_documents, NULL };
