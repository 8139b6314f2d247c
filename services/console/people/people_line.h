/* people_line.h: a person as a line of people.json */
#ifndef CONSOLE_PEOPLE_PEOPLE_LINE_H
#define CONSOLE_PEOPLE_PEOPLE_LINE_H

#include "services/console/people/person.h"
#include <jansson.h>

json_t *person_to_json(const struct person *person); /* the caller owns it */
/* -EBADMSG: ret_why says what is wrong, without a place; then `ret` is cleared. Members that it does not know are wrong, too. */
int person_from_json(const json_t *line, struct person *ret, char ret_why[200]);

#endif
