/*
 * seen.h: the owner's files as the mirror sees them, and what it then says
 */
#ifndef MIRROR_SEEN_H
#define MIRROR_SEEN_H

#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/documents/docs.h"
#include "services/platform/mirror/mirror.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

#define SHOP_IN(currency)                                                                                              \
	"[shop]\ntime-zone = Europe/Berlin\ncurrency = " currency                                                      \
	"\nlocale = de-DE\ntitle = A\nurl = https://a.example\n[mail]\nfrom = a@a.example\n"
#define SHOP SHOP_IN("EUR")
#define SMALL "Small carts (under €40): remind after 4 hours, then after 24. "
#define REST "Medium carts: 2 hours, then 22. Big carts (over €150): 1 hour, then 20."
#define RULES SMALL REST
#define NOW (1000 * US_PER_DAY)

static struct harness *h;

static inline int begin(void **state)
{
	(void)state;
	h = harness_new(&mirror, NOW);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	harness_free(h);
	mirror_forget();
	return 0;
}

/* A shop's three files and, if `language` is given, a fourth of that kind. NULL: no such file */
static inline void sees_also(const char *shop, const char *conf, const char *rules, const char *voice,
	const char *language, const char *words)
{
	const char *kinds[] = { "shop", "rules", "voice", language }, *texts[] = { conf, rules, voice, words };
	struct seen seen[4];
	size_t count = 0;

	for (int i = 0; i < 4; i++)
		if (kinds[i] && texts[i])
			seen[count++] = (struct seen){ .kind = kinds[i], .text = bytes_of(texts[i]) };
	mirror_see(shop, seen, count);
}

static inline void sees(const char *shop, const char *conf, const char *rules, const char *voice)
{
	sees_also(shop, conf, rules, voice, NULL, NULL);
}

static inline void ticks(void)
{
	harness_tick(h, NOW);
}

static inline size_t said(const struct topic *topic)
{
	return harness_count(h, topic);
}

static inline Document said_document(size_t nth)
{
	static Document document;

	assert_true(harness_said(h, &topic_document, nth, &document, NULL));
	return document;
}

static inline Alarm said_alarm(size_t nth)
{
	Alarm alarm;

	assert_true(harness_said(h, &topic_alarm, nth, &alarm, NULL));
	return alarm;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
