/*
 * names.c: the names of the fields and enum values of cart.proto, for the operator's command
 *
 * A message that is added to cart.proto needs a line in CARTS_MESSAGES: the lint `services` reports a
 * forgotten one.
 */
#include "services/kit/words/names.h"

#include "cart.pb.h"

/* clang-format off: it reshapes this list of calls at each run */
#define CARTS_MESSAGES(X)                                                                                              \
	X(CartClosed)                                                                                                  \
	X(CartState)                                                                                                   \
	X(CartWake)                                                                                                    \
	X(ReminderDue)                                                                                                 \
	X(SendUnused)                                                                                                  \
	X(SendClaim)                                                                                                   \
	X(ReminderOutcome)                                                                                             \
	X(ExportDone)                                                                                                  \
	X(SummaryDone)                                                                                                 \
	X(SummaryDue)                                                                                                  \
	X(SummaryClaim)                                                                                                \
	X(SummaryMailed)                                                                                               \
	X(SheetDue)                                                                                                    \
	X(SheetClaim)                                                                                                  \
	X(SheetDone)
/* clang-format on */
CARTS_MESSAGES(NAMES_FIELDS)

static const struct message_names messages[] = { CARTS_MESSAGES(NAMES_ROW){ NULL, NULL } };

NAMES_WORDS(statuses, "open", "bought", "closed");
NAMES_WORDS(closed, "not", "gave_up", "no_address", "emptied", "merged", "opted_out", "by_owner", "too_late",
	"not_chased", "newer_cart");
NAMES_WORDS(ends, "sent", "released", "refused", "ambiguous");
NAMES_WORDS(sheet_ends, "appended", "released", "unknown", "given up");

static const struct enum_names enums[] = {
	{ &CartClosed_msg, CartClosed_reason_tag, closed },
	{ &CartState_msg, CartState_status_tag, statuses },
	{ &CartState_msg, CartState_closed_reason_tag, closed },
	{ &CartState_msg, CartState_consent_tag, names_of_consents },
	{ &CartState_msg, CartState_platform_tag, names_of_platforms },
	{ &SummaryMailed_msg, SummaryMailed_end_tag, ends },
	{ &SheetDone_msg, SheetDone_end_tag, sheet_ends },
	{ NULL, 0, NULL },
};

extern const struct names carts_names[];
const struct names carts_names[] = { { messages, enums }, { NULL, NULL } };
