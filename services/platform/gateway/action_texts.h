/*
 * action_texts.h: what the page behind the owner's links says, in each of its languages. Formal address where a language tells it apart.
 */
#ifndef PLATFORM_GATEWAY_ACTION_TEXTS_H
#define PLATFORM_GATEWAY_ACTION_TEXTS_H

struct action_words {
	const char *ask, *button, *done;
};

/* "{moment}" stands for a day and a time with its zone; all else is plain text. */
struct action_texts {
	const char *language;       /* as of the attribute lang */
	const char *cart, *shopper; /* before their ids */
	struct action_words suppress, write_off, unsubscribe, lift;
	const char *why, *reason_missing; /* the reason, which lift needs */
	const char *until;
	const char *done_head;
	const char *used_head, *used_at;
	const char *expired_head, *expired, *expired_at;
	const char *bad_head, *bad;
	const char *later_head, *later;
};

/* `locale` is the shop's, "" if it is not known. English where nothing fits. */
const struct action_texts *action_texts_for(const char *locale);

extern const struct action_texts action_texts[]; /* of action_texts/<language>.txt; ends with one without a language */

#endif
