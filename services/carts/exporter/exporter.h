/*
 * exporter.h: the service that writes each day's carts to a file
 */
#ifndef CARTS_EXPORTER_EXPORTER_H
#define CARTS_EXPORTER_EXPORTER_H

#include "bus/actor/service.h"
#include "services/carts/exporter/day_csv.h"

extern const struct service exporter;

struct exporter {
	char folder[256];       /* the files are <folder>/<shop>/<day>.csv */
	struct day_links links; /* the owner's links in the files and sheets */
	char sheets_url[256];   /* the base address of the Sheets API */
};
SERVICE_CONTEXT(exporter, struct exporter);

/* All three are copied, and cut if they are too long. An empty key: no links. The Sheets API is Google's. */
struct exporter exporter_of(const char *folder, const char *public_url, struct bytes admin_key);

#endif
