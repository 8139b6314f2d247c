/* top_tables.h: the queues and the processes, as tables that fit */
#ifndef CARTBUS_WATCH_TOP_TABLES_H
#define CARTBUS_WATCH_TOP_TABLES_H

#include "services/cartbus/watch/picture.h"
#include "services/cartbus/watch/top_figures.h"

/* Into the rows from `row` to before `last`. `first_process`: so many are skipped, if they have no room all together. */
void top_draw_tables(struct picture *picture, int row, int last, const struct top_figures *figures, int first_process);
int top_tables_height(const struct top_figures *figures); /* with everything in them */

#endif
