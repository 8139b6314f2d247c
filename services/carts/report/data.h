/* data.h: a report for programs: plain numbers and stable keys */
#ifndef CARTS_REPORT_DATA_H
#define CARTS_REPORT_DATA_H

#include "services/carts/report/report.h"
#include <jansson.h>

void report_csv(const struct report *report, struct buffer *ret);
json_t *report_json(const struct report *report);

#endif
