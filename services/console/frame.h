/* frame.h: what is around every page: names, menus, the bars on top; and the pages that keep what was typed */
#ifndef CONSOLE_FRAME_H
#define CONSOLE_FRAME_H

#include "services/console/visit.h"

/* Chooses the language and the habits of numbers: the person's, else the browser's, else the shop's. `person` NULL: nobody. */
void frame_choose_locale(struct visit *visit, const struct person *person);
json_t *frame_data(const struct visit *visit);  /* what layout.html shows */
json_t *frame_shops(const struct visit *visit); /* [{shop, title, here}]: those that the person may see */

/*
 * Pages that answer a form which was not carried out. They hold all that was typed, so that nothing is lost.
 */
enum frame_kept {
	FRAME_SIGN_IN, /* the session has ended */
	FRAME_STALE,   /* the form is of another session */
	FRAME_PROVE,   /* the password is asked for again */
	FRAME_AWAY,    /* the broker gave no answer */
	FRAME_CONFIRM  /* after the sign-in: send it now */
};
void frame_answer_kept(struct visit *visit, unsigned status, enum frame_kept kept);
/*
 * Was the session proved within the last minutes, or does the form's field `proof` prove it now? false: the answer is complete, and asks for
 * it.
 */
bool frame_prove(struct visit *visit);

#endif
