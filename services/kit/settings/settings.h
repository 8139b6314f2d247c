/*
 * settings.h: every section and key of cartbus.conf, once
 *
 * All processes read the same file; `cartbus config check` judges it with this table, and the handbook's list is held against it.
 */
#ifndef KIT_SETTINGS_SETTINGS_H
#define KIT_SETTINGS_SETTINGS_H

#include "bus/base/config.h"

extern const struct config_key settings_keys[];

/* ---- whether the folders that cartbus.conf names can be used: a process tries them at its start, and `cartbus config check` does ---- */

/* 0; else a negative errno, and why mails cannot be read from `in`/ of the maildir of [mailin] folder. */
int settings_maildir_try(const char *path, const char *in, char ret_why[512]);

/*
 * 0; else a negative errno, and why nothing can be written below [export] folder, which is made when it is missing. Of the folder beside
 * the state, where none is given, 0.
 */
int settings_export_try(const struct config *config, char ret_why[512]);

/* ---- the address that the gateway listens at: the gateway takes it, and `cartbus config check` tries it ---- */

/* A socket at [gateway] listen and port, `backlog` as of listen_at(). A negative errno, and why there is none. */
int settings_listen(const struct config *config, int backlog, char ret_why[512]);
/* Has this machine the address of [gateway] listen? 0; a negative errno, and why not, in the same words. The port is not looked at. */
int settings_listen_try(const struct config *config, char ret_why[512]);

#endif
