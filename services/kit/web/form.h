/* form.h: the fields of a urlencoded form (application/x-www-form-urlencoded), from a body or a query */
#ifndef KIT_WEB_FORM_H
#define KIT_WEB_FORM_H

#include "bus/base/bytes.h"

struct form_field {
	const char *name, *value; /* decoded; the value is "" for a name without `=` */
};

/* All fields, in the order of the form. It owns their texts. {0} is an empty form. */
struct form {
	struct form_field *fields;
	int count;
	char *text;
};

/*
 * Reads a form as browsers write it: `+` is a blank, %41 an A, and an empty pair is none. -E2BIG: it has more than PARTS_MOST fields
 * (request.h). -EBADMSG: a `%` begins no escape, or a name or a value has a NUL or is no UTF-8. Then *ret is empty.
 */
int form_read(struct bytes encoded, struct form *ret);
void form_free(struct form *form); /* also usable as _cleanup_(form_free) */

/* The value of the first field of that name; NULL: there is none. */
const char *form_value(const struct form *form, const char *name);
/* The value of the next field of that name; NULL: there is no other. *at is 0 before the first one. */
const char *form_each(const struct form *form, const char *name, int *at);

/*
 * Finds one field without reading the others: the first of that name, decoded. false: it is missing, has a bad escape or a NUL, or does
 * not fit in `room` bytes. Its bytes may be no UTF-8.
 */
bool form_find(struct bytes encoded, const char *name, char *ret, size_t room);
/* The next pair, not decoded and without the line end that some clients add. false: no more. *rest is the form before the first one. */
bool form_next_pair(struct bytes *rest, struct bytes *ret);

#endif
