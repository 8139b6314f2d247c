/*
 * sign_in.h: the way in: password, second factor, one-time link, and proving oneself again
 *
 * A person's way in:
 *
 *   sign_in_try -> SIGN_IN_CODE  -> sign_in_code -> SIGN_IN_DONE      has a second factor
 *               -> SIGN_IN_ENROL -> sign_in_enrol -> SIGN_IN_DONE     the role asks for one, and there is none yet
 *               -> SIGN_IN_DONE
 *   sign_in_by_link -> as after the password
 *
 * Each step that succeeds gives a new session id, and the old one ends. Whatever is used up once (a code, a recovery
 * code, a link) is durably so before anything is granted: a crash in between costs a repeated try and grants nothing.
 *
 * Read next: session.h, throttle.h, entry_link.h
 */
#ifndef CONSOLE_PEOPLE_SIGN_IN_H
#define CONSOLE_PEOPLE_SIGN_IN_H

#include "services/console/people/entry_link.h"
#include "services/console/people/password.h"
#include "services/console/people/recovery_code.h"
#include "services/console/people/session.h"
#include "services/console/people/throttle.h"
#include "services/console/people/totp.h"

/* All borrowed. `key` is the same as of sessions_open. */
struct sign_in {
	struct people *people;
	struct sessions *sessions;
	struct throttle *throttle;
	struct bytes key;
	const struct clock *clock;
	const char *const *guessed; /* words for password_judge; NULL: none */
	/*
	 * No role asks for a second factor: only this machine reaches the console. Who has one gives its code all the same.
	 */
	bool needs_no_factor;
};

enum sign_in_verdict {
	SIGN_IN_DONE,  /* `id` is a whole session */
	SIGN_IN_CODE,  /* `id` is a session that waits for the code */
	SIGN_IN_ENROL, /* `id` is a session that has to set up a second factor first */
	SIGN_IN_WRONG, /* name, password, code or link: it is not told which */
	SIGN_IN_WAIT,  /* wait_us; nothing was looked at */
	SIGN_IN_ENDED, /* there is no session that this step could follow: from the start */
	SIGN_IN_UNFIT, /* the new password (`fault`), or the new name (`why`); the link is still good */
	SIGN_IN_FAILED /* nothing was granted: `why`, as that a file cannot be written */
};

struct sign_in_answer {
	enum sign_in_verdict verdict;
	int64_t wait_us;
	enum password_fault fault;
	char id[SESSION_ID_ROOM]; /* "": none */
	char person
		[PERSON_NAME_ROOM]; /* who it is; "": unknown. For the journal also after SIGN_IN_WRONG, where it is as typed, if that is a name */
	char why[PEOPLE_WHY];
};

/* From where: for the throttle, and the texts of the session. */
struct sign_in_from {
	const struct source_key *network; /* NULL: unknown */
	struct session_origin origin;     /* its network may be NULL: then it is the text of `network` */
};

/* Takes the time of one hash for any name, unless the verdict is SIGN_IN_WAIT or SIGN_IN_FAILED. */
void sign_in_try(const struct sign_in *sign_in, const struct sign_in_from *from, const char *name,
	struct bytes password, struct sign_in_answer *ret);
/* `code`: six digits, or a recovery code. `id`: of SIGN_IN_CODE. The fifth wrong code ends the session (SIGN_IN_ENDED). */
void sign_in_code(const struct sign_in *sign_in, const struct sign_in_from *from, const char *id, const char *code,
	struct sign_in_answer *ret);

/*
 * Sets up the second factor, from SIGN_IN_ENROL or from a whole session that is fresh: the page made `secret`
 * (totp_secret_new), keeps it in the form, and the person types its first code. The person's other sessions end.
 * ret_codes: the recovery codes, shown once; only with SIGN_IN_DONE.
 */
void sign_in_enrol(const struct sign_in *sign_in, const char *id, const uint8_t secret[PERSON_TOTP_LEN],
	const char *code, char ret_codes[PERSON_RECOVERY_CODES][RECOVERY_CODE_ROOM], struct sign_in_answer *ret);

/*
 * Spends a link and sets the password. No wait holds here: nobody can guess a link. `name`: of the first admin's link the name that the new admin gets, otherwise not
 * looked at. Sessions that the person had end.
 */
void sign_in_by_link(const struct sign_in *sign_in, const struct sign_in_from *from, const char *token,
	const char *name, struct bytes password, struct sign_in_answer *ret);

/*
 * Proves a whole session again, by the password, or by a code (six digits) if there is a second factor. SIGN_IN_DONE with
 * a new id. Failures count for the throttle as those of signing in. Waits do not hold here, since others may have caused
 * them; but the fifth failure ends the session (SIGN_IN_ENDED).
 */
void sign_in_again(const struct sign_in *sign_in, const struct sign_in_from *from, const char *id, struct bytes proof,
	struct sign_in_answer *ret);

/* A new password for oneself, in a session that is fresh (else SIGN_IN_ENDED); the other sessions end. */
void sign_in_new_password(
	const struct sign_in *sign_in, const char *id, struct bytes password, struct sign_in_answer *ret);

#endif
