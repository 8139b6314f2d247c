/* test_names.c: every field of every message has its name */
#include "proto/cart_topics.h"
#include "proto/topics.h"
#include "services/kit/words/names.h"
#include <pb_common.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void check_names(const pb_msgdesc_t *message, void *example)
{
	pb_field_iter_t field;
	bool more = pb_field_iter_begin(&field, message, example);

	for (; more; more = pb_field_iter_next(&field)) {
		assert_non_null(field_name(message, field.tag));
		if (PB_LTYPE(field.type) == PB_LTYPE_SUBMESSAGE)
			check_names(field.submsg_desc, field.pData);
	}
}

static void every_field_of_every_topic_has_a_name(void **state)
{
	(void)state;
	for (size_t i = 0; topic_nth(i); i++) {
		void *example = calloc(1, topic_nth(i)->size);

		check_names(topic_nth(i)->message, example);
		free(example);
	}
}

static void every_value_of_every_enum_has_a_word(void **state)
{
	static const struct {
		const pb_msgdesc_t *message;
		uint32_t tag;
		int values;
	} enums[] = { { &CartState_msg, CartState_closed_reason_tag, _ClosedReason_ARRAYSIZE },
		{ &CartState_msg, CartState_status_tag, _CartStatus_ARRAYSIZE },
		{ &Suppression_msg, Suppression_source_tag, _OptoutSource_ARRAYSIZE },
		{ &MailFeedback_msg, MailFeedback_kind_tag, _FeedbackKind_ARRAYSIZE },
		{ &AdminAction_msg, AdminAction_verb_tag, _AdminVerb_ARRAYSIZE },
		{ &ShopStatus_msg, ShopStatus_mode_tag, _ShopMode_ARRAYSIZE },
		{ &CartChanged_msg, CartChanged_platform_tag, _Platform_ARRAYSIZE },
		{ &CartCheckout_msg, CartCheckout_kind_tag, _CheckoutKind_ARRAYSIZE },
		{ &StorefrontTask_msg, StorefrontTask_kind_tag, _TaskKind_ARRAYSIZE },
		{ &SummaryMailed_msg, SummaryMailed_end_tag, _SummaryEnd_ARRAYSIZE },
		{ &SheetDone_msg, SheetDone_end_tag, _SheetEnd_ARRAYSIZE } };

	(void)state;
	for (size_t i = 0; i < sizeof(enums) / sizeof(*enums); i++) {
		for (int value = 0; value < enums[i].values; value++)
			assert_non_null(enum_word(enums[i].message, enums[i].tag, value));
		assert_null(enum_word(enums[i].message, enums[i].tag, enums[i].values));
		assert_null(enum_word(enums[i].message, enums[i].tag, -1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_every_topic_has_a_name),
		cmocka_unit_test(every_value_of_every_enum_has_a_word),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
