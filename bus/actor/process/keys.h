/*
 * keys.h: the folder of CURVE keys, for the operator's command
 *
 * [paths] keys holds NAME.key (secret, 0600, for the host where that peer runs), broker.key, broker.pub (for every such host) and
 * peers.conf: which public key may be what. The broker reads peers.conf when it starts and when it is told.
 */
#ifndef ACTOR_PROCESS_KEYS_H
#define ACTOR_PROCESS_KEYS_H

#include "bus/base/config.h"

enum { KEYS_OF_ONE = 4, KEY_HEX = 65 };

enum { KEYS_NAMES_MOST = 4096 };

struct keys_peer {
	const char *name, *service, *instance; /* borrowed for the call */
	char rights[96];
	uint32_t names;                        /* how many instances it may be; 0: not said */
	char public_key[KEYS_OF_ONE][KEY_HEX]; /* oldest first */
	int count;
	bool is_here; /* its secret key lies in the folder */
};

/* The folder, and the broker's own pair; nothing that is there is changed. All of these: a negative errno, and why in words. */
int keys_prepare(const struct config *config, char ret_why[512]);
/* A new peer. `service`, `instance`, `rights` as in peers.conf. -EEXIST: there is one of that name. */
int keys_make(const struct config *config, const struct keys_peer *peer, const char *rights, char ret_why[512]);
/* A new secret key; the old public key stays good beside the new one until keys_finish. -EBUSY: it is being rotated already. */
int keys_rotate(const struct config *config, const char *name, char ret_why[512]);
int keys_finish(const struct config *config, const char *name, char ret_why[512]); /* only the newest is good */
int keys_revoke(const struct config *config, const char *name, char ret_why[512]); /* -ENOENT */
int keys_each(const struct config *config, void (*each)(const struct keys_peer *peer, void *context), void *context,
	char ret_why[512]);
/* Each NAME.key but the broker's, shown to the broker of [connect]: `known`: 0, -EACCES, -ETIMEDOUT, or why it could not be, in words. */
void keys_try(const struct config *config, void (*each)(const char *name, int known, const char *why, void *context),
	void *context);
/*
 * What is wrong with the keys, peers.conf, [user NAME], [broker] listen and [connect], one call each; how much there was. `error` -EACCES: this
 * user may not read it, which is not counted.
 */
typedef void keys_complain_fn(const char *what, int error, void *context);
int keys_check(const struct config *config, keys_complain_fn *complain, void *context);

#endif
