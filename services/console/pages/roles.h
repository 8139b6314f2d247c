/* roles.h: a person's roles as `cartbus user role` takes them */
#ifndef CONSOLE_PAGES_ROLES_H
#define CONSOLE_PAGES_ROLES_H

#include "services/console/people/person.h"
#include <jansson.h>

json_t *roles_as_text(const struct person *person); /* ["owner:demo,other", "admin"] */

#endif
