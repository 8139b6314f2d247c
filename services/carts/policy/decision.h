/*
 * decision.h: the four moves: one pure function decides what to do about one cart at one moment
 *
 * The result depends only on the cart, the sent mails, the owner's waits and the clock. It uses no database
 * and no messages: the waiter collects the facts, `decision_make` decides, and the waiter publishes the
 * result.
 */
#ifndef CARTS_POLICY_DECISION_H
#define CARTS_POLICY_DECISION_H

#include "bus/base/clock.h"
#include "services/carts/policy/eligibility.h"
#include "services/carts/policy/sends.h"
#include "services/carts/policy/stops.h"
#include "services/kit/rules/rules.h"

/* the least time between the two mails, also after one was deferred */
#define DECISION_BETWEEN_US (4 * US_PER_HOUR)
/* after the second mail: time to buy before the cart is given up */
#define DECISION_CLOSING_US US_PER_DAY
/* the mail is sent a little after the decision; this saves a second look */
#define DECISION_CLOSING_SLACK_US (5 * US_PER_MINUTE)
/* a mail later than this is not sent any more */
#define DECISION_LATE_US US_PER_DAY
/* nor a mail that other mails to the shopper delayed this long, not counting quiet days */
#define DECISION_DEFERRED_MOST_US (3 * US_PER_DAY)
/* a cart without an address is closed */
#define DECISION_NO_ADDRESS_US (30 * US_PER_DAY)
/* if documents are missing, a change is on its way, or the shop is paused */
#define DECISION_LOOK_AGAIN_US (10 * US_PER_MINUTE)

enum decision_kind { DECISION_STILL_SHOPPING, DECISION_FIRST_REMINDER, DECISION_SECOND_REMINDER, DECISION_GIVE_UP };

enum decision_why {
	WHY_TOO_EARLY,       /* the wait is not over */
	WHY_DUE,             /* the wait is over: send this reminder */
	WHY_STOPPED,         /* facts.stopped tells why */
	WHY_NOT_OPEN,        /* bought or closed since */
	WHY_NO_DOCUMENTS,    /* the shop's rules or configuration have not arrived */
	WHY_NO_ADDRESS,      /* no address yet */
	WHY_GREW_OLD,        /* no address for too long */
	WHY_BAD_ADDRESS,     /* the storefront gave an address that cannot be mailed, and no other yet */
	WHY_BAD_GREW_OLD,    /* no other address for too long */
	WHY_NOT_CHASED,      /* facts.eligibility tells why: consent, exclusions */
	WHY_NEWER_CART,      /* the same shopper left another cart after this one */
	WHY_QUIET,           /* quiet hours: wait for the next minute in which mails may be sent */
	WHY_WINDOW,          /* this shopper got a mail a short time ago */
	WHY_TOO_LATE,        /* more than a day late */
	WHY_FIRST_FAILED,    /* the first mail was refused or skipped, so there is no second */
	WHY_WAITS_FOR_BUY,   /* both were sent: time to buy */
	WHY_BOTH_SENT,       /* and the time to buy is over */
	WHY_NO_REMINDER,     /* the rules have none for such a cart */
	WHY_WAITS_AFTER_ONE, /* the only mail of the rules was sent: time to buy */
	WHY_ONE_SENT,        /* and the time to buy is over */
};

struct decision_facts {
	int64_t now_us;
	bool open, has_address;
	bool bad_address;     /* it has no usable address, because the storefront's cannot be mailed */
	int64_t abandoned_us; /* when it was left, or the time of its last unpaid order */
	/* rules and shop are both known; otherwise waits, window_us and eligibility are invalid */
	bool documents;
	int64_t first_us, second_us; /* the waits, both since abandonment; 0: there is no such mail */
	struct send first, second;   /* the state of the two mails */
	struct stopped stopped;
	ShopMode mode;
	struct eligibility_finding eligibility;
	const char *newer_cart; /* of the same shopper; NULL: there is none */
	int64_t last_mail_us;   /* to this shopper, any cart; 0: never */
	int64_t window_us;      /* at most one mail per shopper in this time */
	/* the owner wrote it; otherwise it applies only to mails about other carts */
	bool window_written;
	int64_t capped_until_us;   /* until then the limit of mails to the shopper is reached; 0: it is not */
	const struct rules *rules; /* for the quiet hours; NULL: none */
	const char *zone;
	uint32_t would_step; /* in an observed shop: the last step that would have been sent, and when */
	int64_t would_us;
};

struct decision {
	enum decision_kind kind;
	enum decision_why why;
	bool say;            /* true: say the reminder; false in a shop that is only observed */
	ClosedReason closes; /* CLOSED_NOT: the cart stays open */
	int64_t due_us;      /* when the decisive wait ends or ended; 0: there is none */
	int64_t next_us;     /* the next look; 0: none */
	/*
	 * after the wait: until when the shopper's window, and then the quiet hours, delay the mail; 0: they
	 * do not
	 */
	int64_t window_until_us, quiet_until_us;
	bool is_capped; /* window_until_us comes from a limit "at most N mails in a period" */
};

struct decision decision_make(const struct decision_facts *facts);
const char *decision_why_text(enum decision_why why);

#endif
