/*
 * names.c: looks up what fields and enum values are called, in the tables that the systems register; the table of platform.proto
 *
 * A message that is added to platform.proto needs a line in PLATFORM_MESSAGES: the lint `services` names a forgotten one.
 */
#include "services/kit/words/names.h"

static const struct field_names *fields_of(const pb_msgdesc_t *message)
{
	for (size_t i = 0; registered_names[i]; i++)
		for (const struct message_names *row = registered_names[i]->messages; row->message; row++)
			if (row->message == message)
				return row->fields;
	return NULL;
}

const char *field_name(const pb_msgdesc_t *message, uint32_t tag)
{
	for (const struct field_names *field = fields_of(message); field && field->name; field++)
		if (field->tag == tag)
			return field->name;
	return NULL;
}

static const char *const *words_of(const pb_msgdesc_t *message, uint32_t tag)
{
	for (size_t i = 0; registered_names[i]; i++)
		for (const struct enum_names *row = registered_names[i]->enums; row->message; row++)
			if (row->message == message && row->tag == tag)
				return row->words;
	return NULL;
}

const char *enum_word(const pb_msgdesc_t *message, uint32_t tag, int value)
{
	const char *const *words = words_of(message, tag);

	for (int at = 0; words && words[at]; at++)
		if (at == value)
			return words[at];
	return NULL;
}

/* ---- platform.proto ---- */

/* clang-format off: it never finds a shape for a list of calls that it keeps */
#define PLATFORM_MESSAGES(X)                                                                                           \
	X(CartIds)                                                                                                     \
	X(Item)                                                                                                        \
	X(Attribute)                                                                                                   \
	X(WaitOverride)                                                                                                \
	X(CartChanged)                                                                                                 \
	X(CartCheckout)                                                                                                \
	X(TimerSet)                                                                                                    \
	X(TimerCancel)                                                                                                 \
	X(TimerFired)                                                                                                  \
	X(Tick)                                                                                                        \
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
PLATFORM_MESSAGES(NAMES_FIELDS)

static const struct message_names messages[] = { PLATFORM_MESSAGES(NAMES_ROW){ NULL, NULL } };

NAMES_WORDS(tasks, "cart", "order", "orders", "checkouts");
const char *const names_of_platforms[] = { "unknown", "shopify", "woocommerce", "generic", "bigcommerce", NULL };
const char *const names_of_consents[] = { "unknown", "no", "yes", NULL };
NAMES_WORDS(checkouts, "bought", "cancelled", "refunded");
NAMES_WORDS(optouts, "page", "one_click", "owner", "complaint", "bounce", "privacy", "import");
NAMES_WORDS(feedbacks, "complaint", "bounce_permanent", "bounce_transient");
NAMES_WORDS(verbs, "suppress_cart", "write_off", "unsubscribe", "override_wait", "lift_suppression", "take_back",
	"settle_privacy", "retime");
NAMES_WORDS(privacies, "redact_customer", "redact_shop", "data_request");
NAMES_WORDS(modes, "observe", "mail_me", "live", "paused");

static const struct enum_names enums[] = {
	{ &CartChanged_msg, CartChanged_platform_tag, names_of_platforms },
	{ &CartChanged_msg, CartChanged_consent_tag, names_of_consents },
	{ &CartCheckout_msg, CartCheckout_platform_tag, names_of_platforms },
	{ &StorefrontTask_msg, StorefrontTask_kind_tag, tasks },
	{ &CartCheckout_msg, CartCheckout_kind_tag, checkouts },
	{ &OptoutRequest_msg, OptoutRequest_source_tag, optouts },
	{ &MailFeedback_msg, MailFeedback_kind_tag, feedbacks },
	{ &Suppression_msg, Suppression_source_tag, optouts },
	{ &AdminAction_msg, AdminAction_verb_tag, verbs },
	{ &PrivacyRequest_msg, PrivacyRequest_kind_tag, privacies },
	{ &PrivacyRequest_msg, PrivacyRequest_platform_tag, names_of_platforms },
	{ &ShopStatus_msg, ShopStatus_mode_tag, modes },
	{ &ShopStatus_msg, ShopStatus_resumes_to_tag, modes },
	{ NULL, 0, NULL },
};

extern const struct names platform_names[];
const struct names platform_names[] = { { messages, enums }, { NULL, NULL } };
