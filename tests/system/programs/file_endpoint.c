/*
 * file_endpoint.c: the process gateway with a system that takes files: POST /files/SHOP/NAME, whose message names the blob
 *
 * X-File-Secret proves the head, and X-File-From says who sent the file. A name is one message, however often it is posted. The lists that
 * services/systems.cmake would make are here, so cartbus-gateway itself knows nothing of them.
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "file_topic.h"
#include "services/kit/endpoint/endpoint.h"
#include <stdio.h>

enum { FILE_BYTES_MOST = 4 * 1024 * 1024, PIECE = 32 * 1024 };

extern const struct endpoint health_endpoints[];

static bool prove(struct submission *submission)
{
	const char *given = request_header(submission->request, "X-File-Secret");
	const struct secrets_pair *secrets;
	int r = secrets_of_shop(submission->context->secrets, submission->names[0], &secrets);

	if (r < 0)
		answer_json_error(submission->answer, 404, secrets_remedy(r));
	else if (signature_check_word(secrets, given) != SIGNATURE_CURRENT)
		answer_json_error(submission->answer, 401, "X-File-Secret is not this shop's secret");
	else
		submission->answer->proven = true;
	return submission->answer->proven;
}

/* false: it is empty, and so no file. */
static bool count(const struct submission *submission, uint32_t *ret_bytes)
{
	char piece[PIECE];
	ssize_t got;

	*ret_bytes = 0;
	while ((got = body_look(submission, *ret_bytes, piece, sizeof(piece))) > 0)
		*ret_bytes += (uint32_t)got;
	return got == 0 && *ret_bytes > 0;
}

static bool read_file(struct submission *submission)
{
	const char *from = request_header(submission->request, "X-File-From"), *name = submission->names[1];
	Document message = { .kind = "file" };
	char idem[100];

	if (!count(submission, &message.version) || !TEXT_COPY(message.source, from ? from : "") ||
		snprintf(idem, sizeof(idem), "file:%s", name) >= (int)sizeof(idem)) {
		answer_json_error(submission->answer, 422, "expected a file, a short name and a short sender");
		return false;
	}
	if (!body_keep(submission, idem, message.digest))
		return false;
	return submission_publish(submission, &topic_test_file,
		       &(struct publish_options){ .shop = submission->names[0], .key = name, .idem = idem }, NULL,
		       &message) == 0;
}

static void answer_file(struct submission *submission)
{
	submission_answer_json(submission, NULL);
}

static const struct blob_use files_use = { .name = "files", .blob_bytes = FILE_BYTES_MOST, .kept_us = 30 * US_PER_DAY };
static const struct endpoint_file file = { &files_use, &topic_test_file };
static const struct endpoint file_endpoints[] = {
	{ "/files/<shop>/<name>", ENDPOINT_POST, FILE_BYTES_MOST, &file, .prove = prove, .read = read_file,
		.answer = answer_file, .listed = true },
	{ 0 },
};

const struct endpoint *const registered_endpoints[] = { file_endpoints, health_endpoints, NULL };
const struct topic *const *const registered_endpoint_topics[] = { file_topics, NULL };
