/*
 * admission.c: decides whether a message is published, waits, is spooled or is refused
 *
 * Promises: an ordinary message is decided within 1 s, a stop within 4 s; ADMIT_SAY only if the message
 *           overtakes no other.
 */
#include "services/platform/gateway/admission.h"
#include "bus/base/clock.h"

static const int64_t confirm_us = 500 * US_PER_MS;             /* then an ordinary message is spooled */
static const int64_t ordinary_us = 900 * US_PER_MS;            /* the answer is due within 1 s */
static const int64_t stop_us = 4 * US_PER_S - 100 * US_PER_MS; /* the answer is due within 4 s */

static enum admission wait_until(int64_t until_us, const struct admission_facts *facts, const char *why,
	int64_t *ret_again_us, const char **ret_why)
{
	*ret_again_us = until_us - facts->waited_us;
	*ret_why = why;
	return *ret_again_us > 0 ? ADMIT_WAIT : ADMIT_REFUSE;
}

/* Decides with a broker. A message waits for slow confirms, or until the spool is drained. */
static enum admission decide_live(const struct admission_facts *facts, int64_t *ret_again_us, const char **ret_why)
{
	const char *why = facts->said ? "the bus does not confirm in time" : "the spool is being drained first";

	if (facts->put_off)
		why = facts->put_off;
	if (!facts->said && !facts->put_off && facts->spool_empty)
		return ADMIT_SAY;
	if (facts->stop)
		return wait_until(stop_us, facts, why, ret_again_us, ret_why);
	if (facts->waited_us < confirm_us)
		return wait_until(confirm_us, facts, why, ret_again_us, ret_why);
	if (facts->met && !facts->trouble)
		return ADMIT_SPOOL;
	return wait_until(ordinary_us, facts, facts->trouble ? facts->trouble : why, ret_again_us, ret_why);
}

enum admission admission_decide(const struct admission_facts *facts, int64_t *ret_again_us, const char **ret_why)
{
	*ret_again_us = 0;
	*ret_why = "";
	if (facts->live)
		return decide_live(facts, ret_again_us, ret_why);
	*ret_why = facts->trouble;
	if (!facts->met)
		*ret_why = "the broker is away and this gateway has never met it";
	if (*ret_why)
		return ADMIT_REFUSE;
	if (!facts->stop || facts->may_spool)
		return ADMIT_SPOOL;
	return wait_until(stop_us, facts, "the broker has just gone away, and a stop may not be kept back from it",
		ret_again_us, ret_why);
}
