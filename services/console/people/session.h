/*
 * session.h: the sessions of people who signed in
 *
 * A session's id is 256 random bits, which only the browser has: the table and its file keep the SHA-256 of it, so a
 * copy of the file lets nobody in. The table is in memory and in a file that may be deleted: then everybody signs in
 * again. A session ends after a time without activity, after a time in all, when the person's version changes
 * (person.h), when it is ended by hand, and when its person starts an eleventh.
 *
 * It is not for two threads at a time.
 */
#ifndef CONSOLE_PEOPLE_SESSION_H
#define CONSOLE_PEOPLE_SESSION_H

#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "services/console/people/people_file.h"

enum {
	SESSION_ID_ROOM = 65,    /* hex, for the cookie */
	SESSION_SHORT_ROOM = 13, /* hex of the hash: names a session in lists and audits, and opens none */
	SESSION_TOKEN_ROOM = 65,
	SESSIONS_EACH = 10, /* of a person; the oldest ends for an eleventh */
	SESSION_WRONG_MOST = 5,
	SESSION_NETWORK_ROOM = 64,
	SESSION_BROWSER_ROOM = 41
};

/* What the person has shown so far. Only SESSION_FULL may do anything else than go on signing in. */
enum session_step {
	SESSION_PASSWORD, /* the password; a code is due */
	SESSION_ENROLS,   /* the password; the role asks for a second factor, which has to be set up */
	SESSION_FULL
};

struct session {
	char short_id[SESSION_SHORT_ROOM];
	char person[PERSON_NAME_ROOM];
	char network[SESSION_NETWORK_ROOM], browser[SESSION_BROWSER_ROOM];
	enum session_step step;
	bool stays; /* "stay signed in" */
	int64_t made_us, seen_us;
	int64_t proved_us; /* when the person last gave password or code: see session_is_fresh */
	int wrong_proofs;  /* or passwords, since the last right one */
};

/* How long sessions live, in microseconds. */
struct session_times {
	int64_t idle_us, most_us;             /* of viewers, approvers and owners */
	int64_t idle_admin_us, most_admin_us; /* of who is operator or admin, too */
	int64_t idle_stay_us, most_stay_us;   /* of viewers and owners who asked to stay signed in */
	int64_t step_us;                      /* until the code is given */
	int64_t fresh_us;                     /* how long a password or code counts for what cannot be undone */
};
/* 8 h and 7 days; 30 min and 12 h; 7 days and 30 days; 10 min; 5 min (OWASP's cheat sheet on session management) */
extern const struct session_times session_times_usual;

struct sessions;

/*
 * `path` is <state>/console/sessions; its folder is made. `key` (32 bytes or more) makes the tokens. All but `key` is
 * borrowed and outlives the sessions. Never fails: a file that is missing, damaged or cannot be read has no sessions, and
 * ret_why then tells why; "": all is well. wall time is that of `clock`.
 */
struct sessions *sessions_open(const char *path, struct people *people, struct bytes key, const struct clock *clock,
	const struct session_times *times, char ret_why[PEOPLE_WHY]);
void sessions_free(struct sessions *sessions); /* takes NULL; writes nothing */
DEFINE_CLEANUP(struct sessions *, sessions_free)

/* Where a session is started from; texts are borrowed, and cut or cleaned to fit. */
struct session_origin {
	const char *network, *browser; /* source_key_text; a short name of the browser */
	bool stays;
};

/*
 * Starts one, for a person of the people. *ret_id goes into the cookie and nowhere else. The session is good also if the
 * file cannot be written: then it ends with the process, and sessions_write tells the error.
 */
void session_start(struct sessions *sessions, const struct person *person, enum session_step step,
	const struct session_origin *origin, char ret_id[SESSION_ID_ROOM]);
/*
 * The session of a cookie; NULL: there is none, or it has ended. `id` may be any text. `is_active`: the person did
 * something; a stream or a poll is none. Borrowed until the next call that is not const.
 */
const struct session *session_find(struct sessions *sessions, const char *id, bool is_active);
/*
 * A new id for the session, which is at this step now and proved just now, as after a code, or after a change of its own
 * password, whose new version of the person it takes on. The old id ends. -ENOENT
 */
int session_renew(struct sessions *sessions, const char *id, enum session_step step, char ret_id[SESSION_ID_ROOM]);
/* Counts a wrong code or password; returns how many there were. The session ends with the fifth. */
int session_wrong_proof(struct sessions *sessions, const char *id);
/* Was the password or a code given within the last minutes? What cannot be undone asks for it. */
bool session_is_fresh(const struct sessions *sessions, const struct session *session);

/*
 * Ending. 0, or the error of writing the file: then the session has ended here, and might be good again after a restart;
 * sessions_write tries again.
 */
int session_end(struct sessions *sessions, const char *id);
int session_end_short(
	struct sessions *sessions, const char *person, const char *short_id); /* -ENOENT: not one of this person */
/* All of the person but that of `id`; NULL: all. *ret_count may be NULL. */
int session_end_person(struct sessions *sessions, const char *person, const char *id, int *ret_count);

/* Those of a person that have not ended, or of everybody (NULL), in the order of their start. Returns their number. */
typedef void session_each_fn(const struct session *session, bool is_own, void *context);
int session_each(
	struct sessions *sessions, const char *person, const char *own_id, session_each_fn *each, void *context);

/* Writes what is not in the file yet, at most once a minute if it is only when sessions were last seen. To be called now and then, and at the end. */
int sessions_write(struct sessions *sessions);

/* ---- tokens against requests that another site makes a browser send ---- */

/* HMAC-SHA256 of "csrf" and the id, hex. It needs no session: the form of the sign-in has one of a cookie before it. */
void session_token(const struct sessions *sessions, const char *id, char ret[SESSION_TOKEN_ROOM]);
bool session_token_matches(const struct sessions *sessions, const char *id, const char *token); /* in constant time */
/* A new random id that belongs to no session, for that cookie. */
void session_new_id(char ret[SESSION_ID_ROOM]);

#endif
