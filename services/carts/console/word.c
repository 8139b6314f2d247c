/* word.c: the one word for a cart in lists */
#include "services/carts/console/word.h"
#include <string.h>

static enum cart_word closed_word(ClosedReason reason, uint32_t mails)
{
	switch (reason) {
	case CLOSED_OPTED_OUT:
		return CART_WORD_SUPPRESSED;
	case CLOSED_NO_ADDRESS:
		return CART_WORD_NO_ADDRESS;
	case CLOSED_NOT_CHASED:
		return CART_WORD_EXCLUDED;
	case CLOSED_GAVE_UP:
		return mails ? CART_WORD_MAILED : CART_WORD_CLOSED;
	case CLOSED_NOT:
	case CLOSED_EMPTIED:
	case CLOSED_MERGED:
	case CLOSED_BY_OWNER:
	case CLOSED_TOO_LATE:
	case CLOSED_NEWER_CART:
		break;
	}
	return CART_WORD_CLOSED;
}

enum cart_word cart_word_of(const struct report_fold_row *row, uint32_t *ret_mails)
{
	*ret_mails = 0;
	for (int i = 0; i < 2; i++)
		*ret_mails += send_may_have_gone(row->mails[i].phase) && !row->mails[i].to_owner;
	if (row->status == CART_BOUGHT)
		return CART_WORD_BOUGHT;
	if (row->status == CART_CLOSED)
		return closed_word(row->closed_reason, *ret_mails);
	if (*ret_mails)
		return CART_WORD_MAILED;
	return *row->address_hash ? CART_WORD_WAITING : CART_WORD_NO_ADDRESS;
}

static const char *const texts[CART_WORDS] = { "waiting", "mailed", "bought", "no_address", "excluded", "suppressed",
	"closed" };

const char *cart_word_text(enum cart_word word)
{
	return texts[word];
}

enum cart_word cart_word_named(const char *text)
{
	enum cart_word word = 0;

	while (word < CART_WORDS && strcmp(texts[word], text) != 0)
		word++;
	return word;
}
