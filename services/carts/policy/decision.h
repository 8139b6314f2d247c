/*
 * decision.h: the four moves: what is done about one cart at one moment, as one pure function
 *
 * Given the cart, what was sent, the owner's waits and the clock, the answer is always the same. No database, no messages: the
 * waiter gathers the facts, `decision_make` decides, the waiter says what came of it.
 */
#ifndef CARTS_POLICY_DECISION_H
#define CARTS_POLICY_DECISION_H

#include "bus/base/clock.h"
#include "services/carts/policy/eligibility.h"
#include "services/carts/policy/sends.h"
#include "services/carts/policy/stops.h"
#include "services/kit/rules/rules.h"

#define DECISION_BETWEEN_US (4 * US_PER_HOUR) /* at least this between the two mails, also after one was deferred */
#define DECISION_CLOSING_US US_PER_DAY        /* after the second mail: time to buy before it is given up */
#define DECISION_CLOSING_SLACK_US                                                                                      \
	(5 * US_PER_MINUTE)         /* the mail goes a little after the decision; saves a second look */
#define DECISION_LATE_US US_PER_DAY /* a mail later than this is not sent any more */
#define DECISION_DEFERRED_MOST_US                                                                                      \
	(3 * US_PER_DAY) /* nor one that other mails to the shopper pushed back this far; quiet days aside */
#define DECISION_NO_ADDRESS_US (30 * US_PER_DAY) /* a cart without an address is closed */
#define DECISION_LOOK_AGAIN_US                                                                                         \
	(10 * US_PER_MINUTE) /* documents are missing, a change is on its way, the shop is paused */

enum decision_kind { DECISION_STILL_SHOPPING, DECISION_FIRST_REMINDER, DECISION_SECOND_REMINDER, DECISION_GIVE_UP };

enum decision_why {
	WHY_TOO_EARLY,       /* the wait is not over */
	WHY_DUE,             /* the wait is over: this reminder goes */
	WHY_STOPPED,         /* facts.stopped says by what */
	WHY_NOT_OPEN,        /* bought or closed since */
	WHY_NO_DOCUMENTS,    /* the shop's rules or configuration have not arrived */
	WHY_NO_ADDRESS,      /* nobody to write to yet */
	WHY_GREW_OLD,        /* and it waited long enough for an address */
	WHY_BAD_ADDRESS,     /* the storefront gave one that cannot be mailed, and no other yet */
	WHY_BAD_GREW_OLD,    /* and it waited long enough for another */
	WHY_NOT_CHASED,      /* facts.chase says why: consent, exclusions */
	WHY_NEWER_CART,      /* the same shopper left another cart after this one */
	WHY_QUIET,           /* quiet hours: at the next sending minute */
	WHY_WINDOW,          /* this shopper had a mail a short while ago */
	WHY_TOO_LATE,        /* more than a day late */
	WHY_FIRST_FAILED,    /* the first was refused or skipped: there is no second without it */
	WHY_WAITS_FOR_BUY,   /* both went out: time to buy */
	WHY_BOTH_SENT,       /* and that is over */
	WHY_NO_REMINDER,     /* the rules have none for such a cart */
	WHY_WAITS_AFTER_ONE, /* the one that the rules have went out: time to buy */
	WHY_ONE_SENT,        /* and that is over */
};

struct decision_facts {
	int64_t now_us;
	bool open, has_address;
	bool bad_address;     /* has none, but the storefront gave one that cannot be mailed */
	int64_t abandoned_us; /* or the last order of it that was not paid */
	bool documents;       /* both rules and shop are known; without them waits, window_us and chase mean nothing */
	int64_t first_us, second_us; /* the waits, both from abandonment; 0: there is no such mail */
	struct send first, second;   /* what became of the two */
	struct stopped stopped;
	ShopMode mode;
	struct eligibility_finding eligibility;
	const char *newer_cart;    /* of the same shopper; NULL: there is none */
	int64_t last_mail_us;      /* to this shopper, any cart; 0: never */
	int64_t window_us;         /* at most one mail per shopper in this time */
	bool window_written;       /* by the owner; else it keeps only mails about other carts apart */
	int64_t capped_until_us;   /* until then the shopper had as many mails as the rules allow; 0: fewer */
	const struct rules *rules; /* for the quiet hours; NULL: none */
	const char *zone;
	uint32_t would_step; /* observe: the last step that would have gone, and when */
	int64_t would_us;
};

struct decision {
	enum decision_kind kind;
	enum decision_why why;
	bool say;            /* a reminder: false in a shop that is only observed */
	ClosedReason closes; /* CLOSED_NOT: the chase goes on */
	int64_t due_us;      /* when the wait that decides was, or will be, over; 0: there is none */
	int64_t next_us;     /* the next look; 0: none */
	/* of a wait that is over: until when the shopper's window and then the quiet hours hold the mail back; 0: they do not */
	int64_t window_until_us, quiet_until_us;
	bool is_capped; /* window_until_us: by "at most so many in so long" */
};

struct decision decision_make(const struct decision_facts *facts);
const char *decision_why_text(enum decision_why why);

#endif
