/*
 * registry.h: who may come, as what, and with which rights
 *
 * Over TCP: <keys>/peers.conf, which `cartbus keys` writes. Over ipc: [broker] users and the [user NAME] sections of cartbus.conf.
 *
 *     [key sender-far]                (peers.conf)             [user cartbus-intake]           (cartbus.conf)
 *     service = sender                                         service = intake
 *     instance = sender-far*                                   names = 4   (so many at most)
 *     rights = publish fold claim hear
 *     public = <64 hex digits>        (repeated: during a rotation two are good)
 */
#ifndef WIRE_REGISTRY_H
#define WIRE_REGISTRY_H

#include "bus/wire/gate.h"

/* The verbs. A service's declaration (topology.conf) says for which topics; an identity may have fewer, never more. */
enum right {
	RIGHT_PUBLISH = 1 << 0, /* say what its declaration says */
	RIGHT_HEAR = 1 << 1,    /* be handed messages of its queue */
	RIGHT_FOLD = 1 << 2,    /* be told what it remembers */
	RIGHT_CLAIM = 1 << 3,   /* say messages that are claims */
	RIGHT_TAP = 1 << 4,     /* see that something is committed, and what about, without payloads */
	RIGHT_CLEAR = 1 << 5,   /* see payloads, with the names and addresses in them */
	RIGHT_ASK = 1 << 6,     /* ask the operator's questions */
	RIGHT_OPERATE = 1 << 7, /* those that change something */
	RIGHTS_ALL = (1 << 8) - 1,
	RIGHTS_DEFAULT = RIGHTS_ALL & ~RIGHT_CLEAR
};

enum { IDENTITY_KEYS_MAX = 4, IDENTITY_NAME_MAX = 64, IDENTITY_NAMES_MOST = 4096 };

struct identity {
	char name[IDENTITY_NAME_MAX];
	char service[128]; /* one or several, blanks between; "*": any */
	char instance[64]; /* a pattern of its instance's name, "sender-far*" */
	unsigned rights;   /* of enum right */
	uint32_t names;    /* how many instances it may be; 0: not said */
	bool is_user;      /* known by uid over ipc; else by its keys over TCP */
	unsigned long uid;
	uint8_t keys[IDENTITY_KEYS_MAX][CURVE_KEY]; /* oldest first */
	int key_count;
};

/* [broker] users */
enum users { USERS_SHARED, USERS_LISTED };

struct registry;

/* `config` knows bus_keys. A missing peers.conf: nobody is known over TCP. */
int registry_load(const struct config *config, struct registry **ret, struct config_error *ret_error);
int registry_parse_peers(const char *text, const char *name, struct registry **ret, struct config_error *ret_error);
void registry_free(struct registry *registry); /* takes NULL */

/* `who` as the gate names it. NULL: unknown. Borrowed until registry_free. */
const struct identity *registry_find(const struct registry *registry, const char *who);
bool identity_may_be(const struct identity *identity, const char *service, const char *instance);
/* How many instances may be there at a time, and how many gateways may ever have been (until they are struck off). */
uint32_t identity_sessions_most(const struct identity *identity);
uint32_t identity_gateways_most(const struct identity *identity);
/* All of peers.conf and of the users, in order; NULL: no more. */
const struct identity *registry_at(const struct registry *registry, size_t index);

#define RIGHTS_EXPECTED "default, all, or some of publish hear fold claim tap clear ask operate"
/* "publish hear"; "all", "default". -EINVAL: no such right. */
int rights_parse(const char *text, unsigned *ret);
void rights_print(unsigned rights, char ret[96]);

#endif
