/*
 * seen.h: the owner's files as the mirror sees them, and what it then says
 */
#ifndef MIRROR_SEEN_H
#define MIRROR_SEEN_H

#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
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
static struct mirror mirror_here;

static inline int begin(void **state)
{
	(void)state;
	mirror_init(&mirror_here);
	h = harness_new_in(mirror_in(&mirror_here), NOW);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	harness_free(h);
	mirror_clear(&mirror_here);
	return 0;
}

/* Of each pair the kind and the text; a text that is NULL: no such file. */
static inline void sees_kinds(const char *shop, const char *const texts[][2], size_t given)
{
	struct seen seen[8];
	size_t count = 0;

	for (size_t i = 0; i < given; i++)
		if (texts[i][0] && texts[i][1])
			seen[count++] = (struct seen){ .row = document_kind_named(registered_documents, texts[i][0]),
				.kind = texts[i][0],
				.text = bytes_of(texts[i][1]) };
	mirror_see(&mirror_here, shop, seen, count);
}

/* A shop's three files and, if `language` is given, a fourth of that kind. NULL: no such file */
static inline void sees_also(const char *shop, const char *conf, const char *rules, const char *voice,
	const char *language, const char *words)
{
	sees_kinds(shop,
		(const char *const[][2]){
			{ "shop", conf }, { "rules", rules }, { "voice", voice }, { language, words } },
		4);
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

static inline struct bytes text_of(Document document)
{
	static char text[sizeof(document.text)];

	TEXT_COPY(text, document.text);
	return bytes_of(text);
}

static inline Alarm said_alarm(size_t nth)
{
	Alarm alarm;

	assert_true(harness_said(h, &topic_alarm, nth, &alarm, NULL));
	return alarm;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
