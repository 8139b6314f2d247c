/* top_letters.h: the dead letters, as `cartbus top` shows them: a list, and one of them */
#ifndef CARTBUS_WATCH_TOP_LETTERS_H
#define CARTBUS_WATCH_TOP_LETTERS_H

#include "services/cartbus/watch/top.h"

struct top_letters {
	json_t *page;   /* the broker's list; NULL: it was not asked yet */
	json_t *letter; /* the one that is looked at; NULL: none is */
	int chosen;     /* of the list */
	int skipped;    /* lines of the letter that are above the picture */
	char why[256];  /* there is no answer */
};

void top_letters_look(struct top *top, struct top_letters *letters); /* asks for the list */
void top_letters_move(struct top_letters *letters, int by);
void top_letters_open(struct top *top, struct top_letters *letters);
bool top_letters_close(struct top_letters *letters); /* false: none was open */
void top_letters_forget(struct top_letters *letters);
void top_letters_draw(struct picture *picture, const struct top *top, const struct top_letters *letters);

#endif
