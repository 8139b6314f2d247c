/*
 * topic.h: a topic and the one kind of message it carries, tied together for the compiler
 *
 * proto/ declares and defines topics with these macros; a service only names them: HEARS(document, ...). The typedef
 * `topic_message_<name>` lets the tables check a handler's parameter type against the topic.
 *
 * A table holds functions of many types as `topic_handler`, a type through which nobody calls. Only the topic
 * knows the real type: its definition generates the two functions that cast a handler back and call it.
 */
#ifndef ACTOR_TOPIC_H
#define ACTOR_TOPIC_H

#include "bus/base/bytes.h"
#include <pb.h>
#include <stddef.h>

/* RETAIN_CLAIM: a claim is kept for ever too, and its topic carries nothing else. */
enum retention { RETAIN_RAW, RETAIN_FACT, RETAIN_KEEP, RETAIN_CLAIM };

/*
 * A string field that may be shown to peers without the right to see payloads, because it names no person. Of
 * all other strings only the length is shown.
 */
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
	TURN_DONE,        /* settled; the turn's facts are committed with it */
	TURN_RETRY,       /* deliver again after a delay, see turn_failed and turn_wait */
	TURN_DEAD_LETTER, /* to the dead letters, see turn_dead_letter */
	/* an effect runs; a decision on its result follows, and the lease is kept until then */
	TURN_PENDING
};

/* A function that hears or remembers messages of one topic. It is called by topic->hear or topic->fold only. */
typedef void topic_handler(void);
typedef enum verdict topic_hear_fn(
	topic_handler *handler, const struct state *state, const void *message, struct turn *turn);
typedef void topic_fold_fn(
	topic_handler *handler, struct state *state, const struct message_meta *said, const void *fact);

/*
 * What a process logs to the journal when it says a message of this topic, or fails at one. Offsets of
 * strings in the decoded struct.
 */
struct topic_log_row {
	const struct topic *topic;
	size_t subject;    /* the id of the thing that the message is about; TOPIC_NOWHERE: none */
	size_t word;       /* a word about it that names no person; TOPIC_NOWHERE: none */
	const char *event; /* the id of the log event (log.h); NULL: only failures are logged */
};
#define TOPIC_NOWHERE ((size_t)-1)

struct topic {
	const char *name;            /* "tick.nightly", at most 31 bytes */
	const pb_msgdesc_t *message; /* nanopb's descriptor */
	size_t size;                 /* sizeof the decoded struct */
	enum retention retention;
	const char *group; /* compaction group; NULL: not compacted */
	/*
	 * Of all topics, those that outlive the log (bus/broker/log/sidelog.h); ends with NULL. NULL: none
	 * does.
	 */
	const struct topic *const *outliving;
	const struct topic_shown *shown;      /* ends with a row without a message; NULL: none */
	const struct topic_log_row *log_rows; /* of all topics; ends with a row without a topic; NULL: none */
	const size_t *blobs;                  /* see TOPIC_DEFINE_NAMING; NULL: its messages name no blob */
	/* These call a handler of this topic by its real type, with a decoded struct of this topic. */
	topic_hear_fn *hear;
	topic_fold_fn *fold;
};

/*
 * The ith blob (from 0) that a decoded message of the topic names; NULL: there are no more. Borrowed from the
 * message.
 */
const char *topic_blob(const struct topic *topic, const void *message, size_t i);
/*
 * Finds the topic of this name in a table that ends with NULL. NULL: there is none. `topics` NULL is an empty
 * table.
 */
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
 * For messages that name blobs (bus/store/blob). `names` lists the offsets of strings in the decoded struct
 * and ends with TOPIC_NOWHERE. Each string has 65 bytes and holds the name of a blob or is empty. Erasure,
 * backup and verification use this list to find the blobs of a message.
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
