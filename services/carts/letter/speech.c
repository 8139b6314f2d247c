/*
 * speech.c: the words of a shop for one shopper, as a service has folded them from `document`
 *
 * Read next: voice_choose.c (which of them a shopper gets), kit/documents/docs.h (where they are kept)
 */
#include "services/carts/letter/speech.h"
#include "services/kit/documents/docs.h"

struct finding {
	const struct state *state;
	const char *shop;
};

static const struct voice *find_voice(void *context, const char *kind)
{
	const struct finding *finding = context;

	return docs_read(finding->state, finding->shop, kind, &voice_document.reading, "", NULL);
}

struct speech speech_of(const struct state *state, const char *shop, const char *locale)
{
	const struct shop *configured = docs_shop(state, shop);
	struct finding finding = { .state = state, .shop = shop };
	struct speech speech;

	voice_choose(locale, configured ? configured->locale : "en", find_voice, &finding, &speech);
	return speech;
}
