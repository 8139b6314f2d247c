/*
 * exporter.h: the service that writes each day's carts to a file
 */
#ifndef CARTS_EXPORTER_EXPORTER_H
#define CARTS_EXPORTER_EXPORTER_H

#include "bus/actor/service.h"

extern const struct service exporter;

/*
 * Where the files go: <folder>/<shop>/<day>.csv. The owner's links in them lead to `public_url` and are signed with this key; an
 * empty one: no links. Called once, before the first turn.
 */
void exporter_set_up(const char *folder, const char *public_url, struct bytes admin_key);

#endif
