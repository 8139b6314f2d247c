/*
 * address_list.h: reads the mail addresses from a file that another tool wrote
 *
 * CSV, with or without a header, or one address per line. The file is read as a stream: a row has at most
 * ADDRESS_ROW_MOST bytes; a file may have any length.
 */
#ifndef CARTBUS_PEOPLE_ADDRESS_LIST_H
#define CARTBUS_PEOPLE_ADDRESS_LIST_H

#include <stdint.h>
#include <stdio.h>

enum { ADDRESS_ROW_MOST = 64 * 1024 };

/*
 * `text` is the row's address as written; or it is NULL, and `why` tells what is wrong with the row. `first`
 * and `last` are the numbers of the row's lines, counted from 1.
 */
typedef void address_row_fn(void *context, uint64_t first, uint64_t last, const char *text, const char *why);

/*
 * Calls each() for every row. `column` is a column's name in the header; NULL: the column that is named like
 * an address ("email", "E-Mail"), or else in each row the first field with an @. Returns 0; -EILSEQ: the file
 * does not begin like text (UTF-16, a program); -ENOENT: there is no such column; -EIO. ret_lines gets the
 * number of lines.
 */
int address_list_read(FILE *from, const char *column, address_row_fn *each, void *context, uint64_t *ret_lines);

#endif
