/* test_admission.c: the table over every branch of the door's decision */
#include "given.h"
#include "services/platform/gateway/admission.h"

#define MS 1000

struct row {
	const char *promise;
	struct admission_facts facts;
	enum admission expected;
	int64_t again_us;
};

static const struct row rows[] = {
	{ "an ordinary message is said when the broker is there", { .live = true, .met = true, .spool_empty = true },
		ADMIT_SAY, 0 },
	{ "so is a stop", { .live = true, .met = true, .spool_empty = true, .stop = true }, ADMIT_SAY, 0 },
	{ "the first session is as good as any", { .live = true, .spool_empty = true }, ADMIT_SAY, 0 },
	{ "what is said waits for its confirm up to 500 ms",
		{ .live = true, .met = true, .spool_empty = true, .said = true, .waited_us = 100 * MS }, ADMIT_WAIT,
		400 * MS },
	{ "and goes to the spool then",
		{ .live = true, .met = true, .spool_empty = true, .said = true, .waited_us = 500 * MS }, ADMIT_SPOOL,
		0 },
	{ "a stop waits on instead, while the session lives",
		{ .live = true, .met = true, .spool_empty = true, .said = true, .stop = true, .waited_us = 500 * MS },
		ADMIT_WAIT, 3400 * MS },
	{ "even where the promise would allow it",
		{ .live = true,
			.met = true,
			.spool_empty = true,
			.said = true,
			.stop = true,
			.may_spool = true,
			.waited_us = 3800 * MS },
		ADMIT_WAIT, 100 * MS },
	{ "and is refused before four seconds are over",
		{ .live = true, .met = true, .spool_empty = true, .said = true, .stop = true, .waited_us = 3900 * MS },
		ADMIT_REFUSE, 0 },
	{ "nothing overtakes the spool", { .live = true, .met = true }, ADMIT_WAIT, 500 * MS },
	{ "it joins the spool instead", { .live = true, .met = true, .waited_us = 500 * MS }, ADMIT_SPOOL, 0 },
	{ "a stop waits until the spool has drained",
		{ .live = true, .met = true, .stop = true, .waited_us = 600 * MS }, ADMIT_WAIT, 3300 * MS },
	{ "a spool that cannot be written leaves a little more time",
		{ .live = true,
			.met = true,
			.spool_empty = true,
			.said = true,
			.trouble = "full",
			.waited_us = 500 * MS },
		ADMIT_WAIT, 400 * MS },
	{ "and then refuses within the second",
		{ .live = true,
			.met = true,
			.spool_empty = true,
			.said = true,
			.trouble = "full",
			.waited_us = 900 * MS },
		ADMIT_REFUSE, 0 },
	{ "what the broker takes only later is not said over and over",
		{ .live = true, .met = true, .spool_empty = true, .put_off = "disk", .waited_us = 100 * MS },
		ADMIT_WAIT, 400 * MS },
	{ "it goes to the spool",
		{ .live = true, .met = true, .spool_empty = true, .put_off = "disk", .waited_us = 500 * MS },
		ADMIT_SPOOL, 0 },
	{ "and a stop is refused in the end",
		{ .live = true,
			.met = true,
			.spool_empty = true,
			.put_off = "disk",
			.stop = true,
			.waited_us = 3900 * MS },
		ADMIT_REFUSE, 0 },
	{ "an ordinary message is spooled at once when the broker is away", { .met = true, .spool_empty = true },
		ADMIT_SPOOL, 0 },
	{ "behind what lies there", { .met = true }, ADMIT_SPOOL, 0 },
	{ "a stop waits until the promise has run out",
		{ .met = true, .spool_empty = true, .stop = true, .waited_us = 1000 * MS }, ADMIT_WAIT, 2900 * MS },
	{ "then it is spooled", { .met = true, .spool_empty = true, .stop = true, .may_spool = true }, ADMIT_SPOOL, 0 },
	{ "or refused", { .met = true, .spool_empty = true, .stop = true, .waited_us = 4000 * MS }, ADMIT_REFUSE, 0 },
	{ "who never met a broker does not spool", { .spool_empty = true }, ADMIT_REFUSE, 0 },
	{ "not even stops", { .spool_empty = true, .stop = true, .may_spool = true }, ADMIT_REFUSE, 0 },
	{ "a broken spool refuses", { .met = true, .spool_empty = true, .trouble = "broken" }, ADMIT_REFUSE, 0 },
	{ "and does not let stops wait for nothing", { .met = true, .stop = true, .trouble = "broken" }, ADMIT_REFUSE,
		0 },
};

static void the_gateway_decides_as_the_design_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t again_us;
		const char *why;
		enum admission decided = admission_decide(&rows[i].facts, &again_us, &why);

		if (decided != rows[i].expected || (decided == ADMIT_WAIT && again_us != rows[i].again_us))
			fail_msg("%s: decided %d, again in %lld us", rows[i].promise, decided, (long long)again_us);
		if (decided == ADMIT_REFUSE)
			assert_true(why && *why);
	}
}

/* Over every combination of facts. */
static void no_wait_outlasts_the_promise_and_no_stop_is_spooled_under_it(void **state)
{
	(void)state;
	for (int bits = 0; bits < 256; bits++)
		for (int64_t waited_us = 0; waited_us <= 5000 * MS; waited_us += 50 * MS) {
			struct admission_facts facts = { .live = bits & 1,
				.met = bits & 2,
				.may_spool = bits & 4,
				.spool_empty = bits & 8,
				.trouble = bits & 16 ? "broken" : NULL,
				.stop = bits & 32,
				.said = bits & 64,
				.put_off = bits & 128 ? "disk" : NULL,
				.waited_us = waited_us };
			int64_t again_us, most_us = facts.stop ? 4000 * MS : 1000 * MS;
			const char *why;
			enum admission decided = admission_decide(&facts, &again_us, &why);

			if (decided == ADMIT_WAIT)
				assert_true(again_us > 0 && waited_us + again_us < most_us);
			if (decided == ADMIT_SPOOL) {
				assert_true(facts.met && !facts.trouble);
				assert_true(!facts.stop || (facts.may_spool && !facts.live));
			}
			if (decided == ADMIT_SAY)
				assert_true(facts.live && facts.spool_empty && !facts.said);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gateway_decides_as_the_design_says),
		cmocka_unit_test(no_wait_outlasts_the_promise_and_no_stop_is_spooled_under_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
