/*
 * figures_data.h: a report for programs: plain numbers, keys that stay
 */
#ifndef KIT_FIGURES_DATA_H
#define KIT_FIGURES_DATA_H

#include "services/kit/figures.h"
#include <jansson.h>

void report_csv(const struct report *report, struct buffer *ret);
json_t *report_json(const struct report *report);

#endif
