/*
 * names.c: what fields and enum values are called, made from nanopb's field lists
 *
 * A field list is a macro that calls its argument once per field: here it becomes one table per message. A message that is added
 * to cart.proto needs a line in MESSAGES.
 */
#include "services/cartbus/core/names.h"

#include "cart.pb.h"
#include <stddef.h>

/* clang-format off: it never finds a shape for a list of calls that it keeps */
#define MESSAGES(X)                                                                                                    \
	X(CartIds)                                                                                                     \
	X(Item)                                                                                                        \
	X(Attribute)                                                                                                   \
	X(WaitOverride)                                                                                                \
	X(CartChanged)                                                                                                 \
	X(CartCheckout)                                                                                                \
	X(CartClosed)                                                                                                  \
	X(CartState)                                                                                                   \
	X(TimerSet)                                                                                                    \
	X(TimerCancel)                                                                                                 \
	X(TimerFired)                                                                                                  \
	X(CartWake)                                                                                                    \
	X(Tick)                                                                                                        \
	X(ReminderDue)                                                                                                 \
	X(SendUnused)                                                                                                  \
	X(SendClaim)                                                                                                   \
	X(ReminderOutcome)                                                                                             \
	X(OptoutRequest)                                                                                               \
	X(MailFeedback)                                                                                                \
	X(FeedbackFetch)                                                                                               \
	X(FeedbackCertificate)                                                                                         \
	X(Suppression)                                                                                                 \
	X(AdminAction)                                                                                                 \
	X(PrivacyRequest)                                                                                              \
	X(PrivacyState)                                                                                                \
	X(LinkClicked)                                                                                                 \
	X(ShopStatus)                                                                                                  \
	X(Document)                                                                                                    \
	X(Audit)                                                                                                       \
	X(ExportDone)                                                                                                  \
	X(SummaryDone)                                                                                                 \
	X(SummaryDue)                                                                                                  \
	X(SummaryClaim)                                                                                                \
	X(SummaryMailed)                                                                                               \
	X(SheetDue)                                                                                                    \
	X(SheetClaim)                                                                                                  \
	X(SheetDone)                                                                                                   \
	X(GatewayAway)                                                                                                 \
	X(ModelUsed)                                                                                                   \
	X(Alarm)                                                                                                       \
	X(AlarmDue)                                                                                                    \
	X(AlarmTold)                                                                                                   \
	X(GatewaySeen)                                                                                                 \
	X(TopicSeen)                                                                                                   \
	X(QueueFailed)                                                                                                 \
	X(StorefrontTask)
/* clang-format on */

struct field {
	uint32_t tag;
	const char *name;
};

#define FIELD(message, storage, count, kind, field_, number) { number, #field_ },
#define TABLE(message) static const struct field message##_names[] = { message##_FIELDLIST(FIELD, message){ 0, NULL } };
MESSAGES(TABLE)

#define ROW(message) { &message##_msg, message##_names },
static const struct {
	const pb_msgdesc_t *message;
	const struct field *fields;
} messages[] = { MESSAGES(ROW) };

const char *field_name(const pb_msgdesc_t *message, uint32_t tag)
{
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		if (messages[i].message != message)
			continue;
		for (const struct field *field = messages[i].fields; field->name; field++) {
			if (field->tag == tag)
				return field->name;
		}
	}
	return NULL;
}

#define WORDS(name, ...) static const char *const name[] = { __VA_ARGS__, NULL }
WORDS(platforms, "unknown", "shopify", "woocommerce", "generic", "bigcommerce");
WORDS(tasks, "cart", "order", "orders", "checkouts");
WORDS(consents, "unknown", "no", "yes");
WORDS(checkouts, "bought", "cancelled", "refunded");
WORDS(statuses, "open", "bought", "closed");
WORDS(closed, "not", "gave_up", "no_address", "emptied", "merged", "opted_out", "by_owner", "too_late", "not_chased",
	"newer_cart");
WORDS(optouts, "page", "one_click", "owner", "complaint", "bounce", "privacy", "import");
WORDS(feedbacks, "complaint", "bounce_permanent", "bounce_transient");
WORDS(verbs, "suppress_cart", "write_off", "unsubscribe", "override_wait", "lift_suppression", "take_back",
	"settle_privacy", "retime");
WORDS(privacies, "redact_customer", "redact_shop", "data_request");
WORDS(ends, "sent", "released", "refused", "ambiguous");
WORDS(sheet_ends, "appended", "released", "unknown", "given up");
WORDS(modes, "observe", "mail_me", "live", "paused");

static const struct {
	const pb_msgdesc_t *message;
	uint32_t tag;
	const char *const *words;
} enums[] = {
	{ &CartChanged_msg, CartChanged_platform_tag, platforms },
	{ &CartChanged_msg, CartChanged_consent_tag, consents },
	{ &CartCheckout_msg, CartCheckout_platform_tag, platforms },
	{ &StorefrontTask_msg, StorefrontTask_kind_tag, tasks },
	{ &CartCheckout_msg, CartCheckout_kind_tag, checkouts },
	{ &CartClosed_msg, CartClosed_reason_tag, closed },
	{ &CartState_msg, CartState_status_tag, statuses },
	{ &CartState_msg, CartState_closed_reason_tag, closed },
	{ &CartState_msg, CartState_consent_tag, consents },
	{ &CartState_msg, CartState_platform_tag, platforms },
	{ &OptoutRequest_msg, OptoutRequest_source_tag, optouts },
	{ &MailFeedback_msg, MailFeedback_kind_tag, feedbacks },
	{ &Suppression_msg, Suppression_source_tag, optouts },
	{ &AdminAction_msg, AdminAction_verb_tag, verbs },
	{ &PrivacyRequest_msg, PrivacyRequest_kind_tag, privacies },
	{ &PrivacyRequest_msg, PrivacyRequest_platform_tag, platforms },
	{ &ShopStatus_msg, ShopStatus_mode_tag, modes },
	{ &SummaryMailed_msg, SummaryMailed_end_tag, ends },
	{ &SheetDone_msg, SheetDone_end_tag, sheet_ends },
	{ &ShopStatus_msg, ShopStatus_resumes_to_tag, modes },
};

const char *enum_word(const pb_msgdesc_t *message, uint32_t tag, int value)
{
	for (size_t i = 0; i < sizeof(enums) / sizeof(*enums); i++) {
		if (enums[i].message != message || enums[i].tag != tag)
			continue;
		for (int at = 0; enums[i].words[at]; at++) {
			if (at == value)
				return enums[i].words[at];
		}
	}
	return NULL;
}
