/*
 * address_list.h: the mail addresses of a file that another tool wrote
 *
 * CSV, with or without a header, or one address per line. It is read as a stream: a row has at most
 * ADDRESS_ROW_MOST bytes; a file may have any length.
 */
#ifndef CARTBUS_PEOPLE_ADDRESS_LIST_H
#define CARTBUS_PEOPLE_ADDRESS_LIST_H

#include <stdint.h>
#include <stdio.h>

enum { ADDRESS_ROW_MOST = 64 * 1024 };

/*
 * `text` is the row's address as written; or NULL, and `why` tells what is wrong with the row. The row's
 * lines, counted from 1, are first to last.
 */
typedef void address_row_fn(void *context, uint64_t first, uint64_t last, const char *text, const char *why);

/*
 * `column` is a name of the header; NULL: a column that is called like an address ("email", "E-Mail"), else in each row the first
 * field with an @. 0, or: -EILSEQ what begins like no text (UTF-16, a program); -ENOENT no such column; -EIO. `ret_lines`: how many.
 */
int address_list_read(FILE *from, const char *column, address_row_fn *each, void *context, uint64_t *ret_lines);

#endif
