/*
 * registry.h: which peers may connect, as which service, and with which rights
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

/*
 * The rights. A service's declaration (topology.conf) names the topics; an identity may have fewer rights,
 * never more.
 */
enum right {
	RIGHT_PUBLISH = 1 << 0, /* publish the topics of its declaration */
	RIGHT_HEAR = 1 << 1,    /* receive messages of its queue */
	RIGHT_FOLD = 1 << 2,    /* receive the projections that it remembers */
	RIGHT_CLAIM = 1 << 3,   /* publish claims */
	RIGHT_TAP = 1 << 4,     /* see which messages are committed, without payloads */
	RIGHT_CLEAR = 1 << 5,   /* see payloads, with the names and addresses in them */
	RIGHT_ASK = 1 << 6,     /* ask the operator's questions */
	RIGHT_OPERATE = 1 << 7, /* ask the operator's questions that change something */
	RIGHTS_ALL = (1 << 8) - 1,
	RIGHTS_DEFAULT = RIGHTS_ALL & ~RIGHT_CLEAR
};

enum { IDENTITY_KEYS_MAX = 4, IDENTITY_NAME_MAX = 64, IDENTITY_NAMES_MOST = 4096 };

struct identity {
	char name[IDENTITY_NAME_MAX];
	char service[128]; /* one or several names with blanks between; "*": any service */
	char instance[64]; /* a pattern of its instance's name, "sender-far*" */
	unsigned rights;   /* of enum right */
	uint32_t names;    /* how many instances it may run; 0: not given */
	bool is_user;      /* true: identified by uid over ipc; false: by its keys over TCP */
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

/* Finds the identity of `who`, a name of the gate. NULL: unknown. Borrowed until registry_free. */
const struct identity *registry_find(const struct registry *registry, const char *who);
bool identity_may_be(const struct identity *identity, const char *service, const char *instance);
/*
 * How many instances may run at a time, and how many gateways may ever have been registered (until the
 * operator removes them).
 */
uint32_t identity_sessions_most(const struct identity *identity);
uint32_t identity_gateways_most(const struct identity *identity);
/* The identity at `index`, first those of peers.conf and then the users; NULL: there are no more. */
const struct identity *registry_at(const struct registry *registry, size_t index);

#define RIGHTS_EXPECTED "default, all, or some of publish hear fold claim tap clear ask operate"
/* Reads a text such as "publish hear", "all" or "default". -EINVAL: it names no right. */
int rights_parse(const char *text, unsigned *ret);
void rights_print(unsigned rights, char ret[96]);

#endif
