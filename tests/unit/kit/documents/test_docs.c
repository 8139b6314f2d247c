/* Texts of any length that is allowed: in which field of a message they are, and that a service reads them whole from its state. */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/documents/docs.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

#define NOW_US (INT64_C(1795176000) * US_PER_S)

static const struct service reader = { .name = "reader", .remembers = REMEMBERING(REMEMBERS(document, docs_remember)) };

static int parsed_count;

static void *parse_policy(const struct document_text *text, const char *with)
{
	(void)with;
	parsed_count++;
	return memory_copy_text(text->text);
}

static const struct docs_reading reading = { parse_policy, free };

/* Two bytes a letter, so that no cut would go unseen; and one more if the length is odd. */
static char *text_of(size_t len)
{
	char *text = memory_new(len + 1);

	for (size_t i = 0; i + 1 < len; i += 2)
		memcpy(text + i, i % 34 ? "ä" : "ö", 2);
	if (len % 2)
		text[len - 1] = 'x';
	return text;
}

static void given(struct harness *h, const char *text, uint32_t version)
{
	Document *document = memory_new(sizeof(*document));

	document->version = version;
	TEXT_COPY(document->kind, "policy");
	snprintf(document->digest, sizeof(document->digest), "%016llx-%u",
		(unsigned long long)text_hash(bytes_of(text)), (unsigned)version);
	document_set_text(document, bytes_of(text));
	GIVEN(h, document, document, .shop = "demo", .key = "policy", .version = version);
	free(document);
}

static void a_text_up_to_256_kib_is_folded_and_read_whole(void **state)
{
	static const size_t lengths[] = { 1, 32766, 32767, 32768, 32769, 65535, 65536, 65537, 131072,
		DOCUMENT_BYTES_MAX - 1, DOCUMENT_BYTES_MAX, 100 };
	struct harness *h = harness_new(&reader, NOW_US);

	(void)state;
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *text = text_of(lengths[i]);
		uint32_t version;

		given(h, text, i + 1);
		const char *read = docs_read(harness_state(h), "demo", "policy", &reading, "", &version);
		assert_non_null(read);
		assert_int_equal(version, i + 1);
		assert_int_equal(strlen(read), lengths[i]);
		assert_int_equal(strcmp(read, text), 0);
		parsed_count = 0;
		assert_ptr_equal(docs_read(harness_state(h), "demo", "policy", &reading, "", NULL), read);
		assert_int_equal(parsed_count, 0);
		free(text);
	}
	harness_free(h);
}

static void only_what_older_releases_cannot_read_is_in_the_field_that_they_skip(void **state)
{
	char *fits = text_of(32767), *longer = text_of(32768);
	Document *document = memory_new(sizeof(*document));

	(void)state;
	document_set_text(document, bytes_of(fits));
	assert_string_equal(document->text, fits);
	assert_int_equal(document->long_text.len, 0);
	document_set_text(document, bytes_of(longer));
	assert_string_equal(document->text, "");
	assert_int_equal(document->long_text.len, 32768);
	assert_true(bytes_equal(document_text(document), bytes_of(longer)));
	document_set_text(document, BYTES(NULL, 0)); /* as one that was taken back */
	assert_int_equal(document_text(document).len, 0);
	free(document);
	free(fits);
	free(longer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_up_to_256_kib_is_folded_and_read_whole),
		cmocka_unit_test(only_what_older_releases_cannot_read_is_in_the_field_that_they_skip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
