/* print.h: prints JSON on stdout */
#ifndef CARTBUS_CORE_PRINT_H
#define CARTBUS_CORE_PRINT_H

#include "services/kit/words/message_json.h"

/* Prints on stdout, indented. NULL, which jansson returns for a text that is not UTF-8, is printed as an error. */
void json_print(const json_t *json);
void json_print_line(const json_t *json); /* the same on one line */
/*
 * Prints {"NAME": [...]}: lists are inside an object, so that members can be added later. Takes ownership of
 * the list.
 */
void json_print_list(const char *name, json_t *list);
/*
 * The part of a parser's error about what was expected, without the place "line 3, column 7: expected ",
 * which has fields of its own.
 */
const char *json_expected(const char *text, int line, int column);

#endif
