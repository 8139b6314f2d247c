/*
 * body.c: the body of a submission as a file
 *
 * Promises:  nothing is named before it is durable; nothing that was not named stays.
 * Fails by:  507 when there is no room, else 503, and a line in the log.
 */
#include "services/kit/endpoint/body.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/endpoint/endpoint.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct kept_body {
	char name[BLOB_NAME_SIZE], owner[BLOB_OWNER_MAX + 1];
	bool is_new; /* the content was not there before */
};

static bool refuse(struct submission *submission, int error)
{
	bool is_full = error == -ENOSPC || error == -EDQUOT;
	struct endpoint_context *context = submission->context;

	context->counters->refused++;
	blob_uses_refuse(context->blobs);
	submission_warn(submission, &context->of_bodies, submission->names[0],
		is_full ? "there is no room on the disk for its body" : "its body cannot be written to the disk");
	buffer_clear(&submission->answer->body);
	answer_json_error(submission->answer, is_full ? 507 : 503,
		is_full ? "there is no room for this body now" : "this body cannot be kept now");
	return false;
}

static int begin_body(struct submission *submission)
{
	return blob_uses_begin(
		submission->context->blobs, submission->endpoint->file->use, submission->names[0], &submission->body);
}

bool body_add(struct submission *submission, struct bytes piece)
{
	int r = submission->body ? 0 : begin_body(submission);

	if (r == 0)
		r = blob_add(submission->body, piece);
	return r == 0 || refuse(submission, r);
}

ssize_t body_look(const struct submission *submission, uint64_t from, void *to, size_t size)
{
	assert(!submission->kept_body);
	return submission->body ? blob_look_back(submission->body, from, to, size) : 0;
}

bool body_keep(struct submission *submission, const char *idem, char ret_name[BLOB_NAME_SIZE])
{
	const struct endpoint_file *file = submission->endpoint->file;
	struct kept_body *kept = memory_new(sizeof(*kept));
	int r = blob_owner_text(file->topic->name, idem, kept->owner);

	assert(!submission->kept_body);
	if (r == 0 && !submission->body) /* an empty body */
		r = begin_body(submission);
	if (r == 0)
		r = blob_uses_commit(submission->context->blobs, file->use, submission->names[0], &submission->body,
			kept->owner, kept->name, &kept->is_new);
	if (r < 0) {
		free(kept);
		return refuse(submission, r);
	}
	memcpy(ret_name, kept->name, sizeof(kept->name));
	submission->kept_body = kept;
	return true;
}

void body_end(struct submission *submission)
{
	const struct kept_body *kept = submission->kept_body;
	int r = 0;

	blob_abandon(submission->body);
	submission->body = NULL;
	if (kept && kept->is_new && !submission->published)
		r = blob_uses_release(submission->context->blobs, submission->endpoint->file->use, submission->names[0],
			kept->name, kept->owner);
	if (r < 0)
		log_event(LOG_WARNING, "a body that nobody named stays: %s", strerror(-r));
	free(submission->kept_body);
	submission->kept_body = NULL;
}
