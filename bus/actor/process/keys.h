/*
 * keys.h: the folder of CURVE keys, for the operator's command
 *
 * [paths] keys holds NAME.key (secret, 0600, for the host where that peer runs), broker.key, broker.pub (for
 * every such host) and peers.conf, which says which rights each public key has. The broker reads peers.conf
 * when it starts and when it is told to.
 */
#ifndef ACTOR_PROCESS_KEYS_H
#define ACTOR_PROCESS_KEYS_H

#include "bus/base/config.h"

enum { KEYS_OF_ONE = 4, KEY_HEX = 65 };

enum { KEYS_NAMES_MOST = 4096 };

struct keys_peer {
	const char *name, *service, *instance; /* borrowed for the call */
	char rights[96];
	uint32_t names;                        /* how many instances it may run; 0: not given */
	char public_key[KEYS_OF_ONE][KEY_HEX]; /* oldest first */
	int count;
	bool is_here; /* its secret key is in the folder */
};

/*
 * Makes the folder and the broker's own key pair; changes nothing that exists. This and the functions below
 * return 0 or a negative errno; ret_why gives the reason in words.
 */
int keys_prepare(const struct config *config, char ret_why[512]);
/*
 * Makes a new peer with its key pair. `service`, `instance` and `rights` are written as in peers.conf.
 * -EEXIST: a peer of that name exists.
 */
int keys_make(const struct config *config, const struct keys_peer *peer, const char *rights, char ret_why[512]);
/*
 * Makes a new secret key. The old public key stays valid beside the new one until keys_finish. -EBUSY: a
 * rotation is under way.
 */
int keys_rotate(const struct config *config, const char *name, char ret_why[512]);
/* from now on only the newest key is valid */
int keys_finish(const struct config *config, const char *name, char ret_why[512]);
/* removes the peer; -ENOENT: there is none of that name */
int keys_revoke(const struct config *config, const char *name, char ret_why[512]);
int keys_each(const struct config *config, void (*each)(const struct keys_peer *peer, void *context), void *context,
	char ret_why[512]);
/*
 * Tries each NAME.key except the broker's at the broker of [connect]. `known`: 0, -EACCES (the broker does
 * not know the key), -ETIMEDOUT, or another negative errno if it could not be tried; `why` gives the reason
 * in words.
 */
void keys_try(const struct config *config, void (*each)(const char *name, int known, const char *why, void *context),
	void *context);
/*
 * Checks the keys, peers.conf, [user NAME], [broker] listen and [connect]. Calls complain() once for each
 * problem and returns how many there were. `error` -EACCES: this user may not read the file; that is not
 * counted.
 */
typedef void keys_complain_fn(const char *what, int error, void *context);
int keys_check(const struct config *config, keys_complain_fn *complain, void *context);

#endif
