/*
 * topic.h: a topic and the one kind of message it carries, tied together for the compiler
 *
 * proto/ declares and defines topics with these macros; a service only names them: HEARS(document, ...). The typedef
 * `topic_message_<name>` lets the tables check a handler's parameter type against the topic.
 *
 * A table holds functions of many types as `topic_handler`, a type that nobody calls. The topic alone knows the real type: its
 * definition generates the two functions that turn a handler back into what it was and call it.
 */
#ifndef ACTOR_TOPIC_H
#define ACTOR_TOPIC_H

#include "bus/base/bytes.h"
#include <pb.h>
#include <stddef.h>

/* A claim is kept for ever too, and nothing else is said under its topic. */
enum retention { RETAIN_RAW, RETAIN_FACT, RETAIN_KEEP, RETAIN_CLAIM };

/* A string that may be seen by who has no right to see payloads: it names no person. Of all others only their length is. */
struct topic_shown {
	const pb_msgdesc_t *message;
	pb_size_t tag;
};

struct topic;
struct state;
struct turn;
struct message_meta;

/* How a decision about a message ends (turn.h). */
enum verdict {
	TURN_DONE,        /* settled; what was said is committed with it */
	TURN_RETRY,       /* again after a delay, see turn_wait and turn_failed */
	TURN_DEAD_LETTER, /* to the dead letters, see turn_dead_letter */
	TURN_PENDING      /* an effect runs; its result will be decided on, the lease is kept meanwhile */
};

/* A function that hears or remembers messages of one topic. It is called by topic->hear or topic->fold only. */
typedef void topic_handler(void);
typedef enum verdict topic_hear_fn(
	topic_handler *handler, const struct state *state, const void *message, struct turn *turn);
typedef void topic_fold_fn(
	topic_handler *handler, struct state *state, const struct message_meta *said, const void *fact);

/* What a process tells the journal when it says such a message, or fails at one. Offsets of strings in the decoded struct. */
struct topic_log_row {
	const struct topic *topic;
	size_t subject;    /* id of the one thing that the message is about; TOPIC_NOWHERE: it names none */
	size_t word;       /* a word about it that names nobody; TOPIC_NOWHERE: none */
	const char *event; /* id of its kind (log.h); NULL: saying it is not told, failing at it is */
};
#define TOPIC_NOWHERE ((size_t)-1)

struct topic {
	const char *name;            /* "tick.nightly", at most 31 bytes */
	const pb_msgdesc_t *message; /* nanopb's descriptor */
	size_t size;                 /* sizeof the decoded struct */
	enum retention retention;
	const char *group; /* compaction group; NULL: not compacted */
	/* Of all topics those that outlive the log (bus/broker/log/sidelog.h), up to NULL; NULL: none does */
	const struct topic *const *outliving;
	const struct topic_shown *shown;      /* up to one without a message; NULL: none */
	const struct topic_log_row *log_rows; /* of all topics, up to one without a topic; NULL: none is told */
	const size_t *blobs;                  /* see TOPIC_DEFINE_NAMING; NULL: its messages name no blob */
	/* Call a handler of this topic by its own type, with a decoded struct of this topic. */
	topic_hear_fn *hear;
	topic_fold_fn *fold;
};

/* The blobs that a decoded message of the topic names, one after the other; NULL: no more. Borrowed from the message. */
const char *topic_blob(const struct topic *topic, const void *message, size_t i);
/* Of a table ended by a NULL, the topic of this name; NULL: it has none. `topics` NULL: an empty table. */
const struct topic *topic_named(const struct topic *const *topics, const char *name);
/* Decodes a payload of this topic. false: it does not fit the message. Borrowed fields (proto/borrowed.h) point into `payload`. */
bool topic_read(const struct topic *topic, struct bytes payload, void *ret_message);

#define TOPIC_DECLARE(name, type)                                                                                      \
	typedef type topic_message_##name;                                                                             \
	typedef enum verdict topic_hears_##name(const struct state *, const type *, struct turn *);                    \
	typedef void topic_folds_##name(struct state *, const struct message_meta *, const type *);                    \
	extern const struct topic topic_##name

#define TOPIC_DEFINE(identifier, text, type, retained, compacted)                                                      \
	TOPIC_DEFINE_SHOWN(identifier, text, type, retained, compacted, NULL, NULL, NULL)

/*
 * Of messages that name blobs (bus/store/blob): `names` holds the offsets, in the decoded struct, of strings of 65 bytes, each the name
 * of a blob or empty, and TOPIC_NOWHERE at its end. By it an erasure, a backup and a verification find what a message names.
 */
#define TOPIC_DEFINE_NAMING(identifier, text, type, retained, compacted, names)                                        \
	TOPIC_DEFINE_WHOLE(identifier, text, type, retained, compacted, NULL, NULL, NULL, names)

#define TOPIC_DEFINE_SHOWN(identifier, text, type, retained, compacted, stops, harmless, journal)                      \
	TOPIC_DEFINE_WHOLE(identifier, text, type, retained, compacted, stops, harmless, journal, NULL)

#define TOPIC_DEFINE_WHOLE(identifier, text, type, retained, compacted, stops, harmless, journal, names)               \
	static enum verdict topic_hear_##identifier(                                                                   \
		topic_handler *handler, const struct state *state, const void *message, struct turn *turn)             \
	{                                                                                                              \
		return ((topic_hears_##identifier *)handler)(state, message, turn);                                    \
	}                                                                                                              \
	static void topic_fold_##identifier(                                                                           \
		topic_handler *handler, struct state *state, const struct message_meta *said, const void *fact)        \
	{                                                                                                              \
		((topic_folds_##identifier *)handler)(state, said, fact);                                              \
	}                                                                                                              \
	const struct topic topic_##identifier = { .name = (text),                                                      \
		.message = &type##_msg,                                                                                \
		.size = sizeof(type),                                                                                  \
		.retention = (retained),                                                                               \
		.group = (compacted),                                                                                  \
		.outliving = (stops),                                                                                  \
		.shown = (harmless),                                                                                   \
		.log_rows = (journal),                                                                                 \
		.blobs = (names),                                                                                      \
		.hear = topic_hear_##identifier,                                                                       \
		.fold = topic_fold_##identifier }

#endif
