/*
 * settings.h: every section and key of cartbus.conf, once
 *
 * All processes read the same file. `cartbus config check` checks it with this table, and a test compares the
 * handbook's list with it.
 */
#ifndef KIT_SETTINGS_SETTINGS_H
#define KIT_SETTINGS_SETTINGS_H

#include "bus/base/config.h"

extern const struct config_key settings_keys[];

/* ---- whether the folders that cartbus.conf names can be used: a process tries them at its start, and `cartbus config check` does ---- */

/*
 * Can mails be read from `in`/ of the maildir of [mailin] folder? 0, or a negative errno; ret_why gives the
 * reason.
 */
int settings_maildir_try(const char *path, const char *in, char ret_why[512]);

/*
 * Can files be written below [export] folder, which is made if it is missing? 0, or a negative errno; ret_why
 * gives the reason. Without [export] folder it is the folder beside the state, and the result is 0.
 */
int settings_export_try(const struct config *config, char ret_why[512]);

/* ---- the address that the gateway listens at: the gateway takes it, and `cartbus config check` tries it ---- */

/*
 * Makes a socket at `listen` and `port` of the section; `backlog` as in listen_at(). A negative errno; ret_why gives
 * the reason.
 */
int settings_listen(const struct config *config, const char *section, int backlog, char ret_why[512]);
/*
 * Does this machine have the address of [gateway] listen? 0, or a negative errno with the same texts. The
 * port is not checked.
 */
int settings_listen_try(const struct config *config, char ret_why[512]);

#endif
