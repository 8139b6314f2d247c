/*
 * body.h: the body of a submission as a file: for rows with a `file` (endpoint.h)
 *
 * The body is written to a store of the gateway's (services/kit/blobs) while it comes, so memory stays flat. `read` looks into it,
 * and keeps it before it says a message that names it:
 *
 *   while ((got = body_look(submission, at, piece, sizeof(piece))) > 0) ...
 *   if (!body_keep(submission, idem, name))
 *           return false;
 *   submission_say(... .idem = idem ... name ...)
 *
 * A body that was not kept leaves nothing behind: when the client goes away, when `read` refuses it, when the gateway ends or is killed.
 * If `read` returns false after body_keep, the reference is released, unless the content was there before. Once messages are on their
 * way the reference stays, whatever becomes of them, because the broker may have them all the same; a sender that repeats the request
 * refers to the same content. A reference that no message names goes with its age.
 */
#ifndef KIT_ENDPOINT_BODY_H
#define KIT_ENDPOINT_BODY_H

#include "services/kit/blobs/blob_uses.h"
#include "services/kit/endpoint/submission.h"

/* Bytes read from this place on; 0: the end; a negative errno. Not after body_keep. */
ssize_t body_look(const struct submission *submission, uint64_t from, void *to, size_t size);
/*
 * Makes the body durable under its SHA-256. `idem` is the key of the message that names it, by which an erasure finds the reference.
 * It waits for the disk. false: the answer is complete (507: there is no room; 503).
 */
bool body_keep(struct submission *submission, const char *idem, char ret_name[BLOB_NAME_SIZE]);

/* ---- for the gateway ---- */

/* The next piece has come. false: the answer is complete. */
bool body_add(struct submission *submission, struct bytes piece);
void body_end(struct submission *submission); /* the submission is at its end */

#endif
