/* folders.h: can the folders that cartbus.conf names be used? Tried by a process at its start, and by `cartbus config check` */
#ifndef KIT_SETTINGS_FOLDERS_H
#define KIT_SETTINGS_FOLDERS_H

#include "bus/base/config.h"

/* 0; else a negative errno, and why mails cannot be read from `in`/ of the maildir of [mailin] folder. */
int settings_maildir_try(const char *path, const char *in, char ret_why[512]);

/*
 * 0; else a negative errno, and why nothing can be written below [export] folder, which is made when it is missing. Of the folder beside
 * the state, where none is given, 0.
 */
int settings_export_try(const struct config *config, char ret_why[512]);
#endif
