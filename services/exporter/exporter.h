/*
 * exporter.h: the service that writes each day's carts to a file
 */
#ifndef EXPORTER_EXPORTER_H
#define EXPORTER_EXPORTER_H

#include "bus/actor/service.h"

extern const struct service exporter;

/* Where the files go: <folder>/<shop>/<day>.csv. Called once, before the first turn. */
void exporter_set_up(const char *folder);

#endif
