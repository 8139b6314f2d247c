/*
 * document.h: what a shop's owner wrote, as the fact that services fold
 */
#ifndef TESTS_UNIT_DOCUMENT_H
#define TESTS_UNIT_DOCUMENT_H

#include "bus/actor/sim/harness.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include <stdio.h>

/* A shop.conf with what every one needs; more may follow, of [mail] first. */
#define DEMO_SHOP                                                                                                      \
	"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\n"                            \
	"url = https://demo.example\n[mail]\nfrom = Demo <shop@demo.example>\n"

/* Each one is newer than the one before; its text is `text` and `more`. Returns its version. */
static inline uint32_t given_text(
	struct harness *h, const char *of, const char *kind, const char *text, const char *more)
{
	static uint32_t version;
	static Document document;

	document = (Document){ .version = ++version };
	TEXT_COPY(document.kind, kind);
	snprintf(document.text, sizeof(document.text), "%s%s", text, more);
	snprintf(document.digest, sizeof(document.digest), "%016llx",
		(unsigned long long)text_hash(bytes_of(document.text)));
	GIVEN(h, document, &document, .shop = of, .key = kind, .version = version);
	return version;
}

#endif
