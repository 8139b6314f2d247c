/* test_body.c: bodies that are files: what comes in is durable before it is named, and what is not named leaves nothing */
#define SERVED_CONFIG "[gateway]\ntrusted-proxy =\n" /* its clients are of one network */
#include "bus/actor/service.h"
extern const struct service files_reader;
#define SERVED_BESIDE &files_reader,
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "served.h"
#include "services/kit/endpoint/endpoint.h"
#include "services/kit/endpoint/submission.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdlib.h>

enum { MB = 1024 * 1024, LARGE = 20 * MB, PATHS = 300, MEMORY_MOST = 16 * MB };

/* ---- a system that is registered in this test alone ---- */

static const size_t names[] = { offsetof(LinkClicked, cart_id), TOPIC_NOWHERE };
TOPIC_DECLARE(file_came, LinkClicked);
TOPIC_DEFINE_NAMING(file_came, "file.came", LinkClicked, RETAIN_RAW, NULL, names);

static enum verdict hear_file(const struct state *state, const LinkClicked *said, struct turn *turn)
{
	(void)state, (void)said, (void)turn;
	return TURN_DONE;
}
const struct service files_reader = { .name = "reader", .hears = HEARING(HEARS(file_came, hear_file)) };

static uint64_t looked_at; /* bytes, of the last body */
static char kept_name[BLOB_NAME_SIZE];
static bool was_durable; /* the file was there when its message was said */

static char *path_of_blob(const char *name)
{
	static char path[PATHS];

	snprintf(path, sizeof(path), "%s/state/blobs/gateway/files/demo/blobs/%.2s/%s", folder, name, name);
	return path;
}

static bool read_file(struct submission *submission)
{
	LinkClicked said = { .at_us = 1 };
	char piece[10000], idem[100];
	ssize_t got;

	for (looked_at = 0; (got = body_look(submission, looked_at, piece, sizeof(piece))) > 0;)
		looked_at += (uint64_t)got;
	assert_int_equal(got, 0);
	if (strcmp(submission->names[1], "refused") == 0) {
		answer_json_error(submission->answer, 422, "it is no form");
		return false;
	}
	snprintf(idem, sizeof(idem), "file:%s", submission->names[1]);
	if (!body_keep(submission, idem, kept_name))
		return false;
	if (strcmp(submission->names[1], "late") == 0) {
		answer_json_error(submission->answer, 422, "it was kept, and is not wanted after all");
		return false;
	}
	was_durable = access(path_of_blob(kept_name), R_OK) == 0;
	TEXT_COPY(said.cart_id, kept_name);
	struct publish_options how = { .shop = "demo", .key = "k", .idem = idem };
	return submission_publish(submission, &topic_file_came, &how, NULL, &said) == 0;
}

static void answer_file(struct submission *submission)
{
	submission_answer_json(submission, NULL);
}

static const struct blob_use files_use = { .name = "files", .blob_bytes = 25 * MB, .kept_us = 30 * US_PER_DAY };
static const struct endpoint_file file = { &files_use, &topic_file_came };
static const struct endpoint files[] = {
	{ "/files/<shop>/<name>", ENDPOINT_POST, 25 * MB, &file, .read = read_file, .answer = answer_file },
	{ 0 },
};
static const struct topic *const saying[] = { &topic_file_came, NULL };
const struct endpoint *const registered_endpoints[] = { files, NULL };
const struct topic *const *const registered_endpoint_topics[] = { saying, NULL };

/* ---- clients ---- */

static char *content; /* of LARGE bytes and more */

struct upload {
	struct pollfd ready;
	char head[200], answer[600];
	size_t head_len, length, sent, heard;
	bool ended;
};

static struct upload upload_begin(const char *name, size_t length)
{
	struct upload upload = { .ready = { .fd = come(), .events = POLLIN }, .length = length };

	upload.head_len = (size_t)snprintf(upload.head, sizeof(upload.head),
		"POST /files/demo/%s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", name, length);
	assert_int_equal(send(upload.ready.fd, upload.head, upload.head_len, MSG_NOSIGNAL), upload.head_len);
	return upload;
}

/* Sends and hears what can be now; at most `most` bytes of the body in all. */
static void upload_go_on(struct upload *upload, size_t most)
{
	size_t until = most < upload->length ? most : upload->length;
	ssize_t n = 0;

	if (upload->sent < until)
		n = send(upload->ready.fd, content + upload->sent, until - upload->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
	upload->sent += n > 0 ? (size_t)n : 0;
	n = recv(upload->ready.fd, upload->answer + upload->heard, sizeof(upload->answer) - upload->heard - 1,
		MSG_DONTWAIT);
	upload->heard += n > 0 ? (size_t)n : 0;
	upload->ended = n == 0 || (n < 0 && errno != EAGAIN);
}

static void upload_all(struct upload *uploads, int count)
{
	int ended = 0;

	for (int i = 0; i < 20 * PATIENCE && ended < count; i++) {
		ended = 0;
		turn();
		for (int u = 0; u < count; u++) {
			if (!uploads[u].ended)
				upload_go_on(&uploads[u], SIZE_MAX);
			ended += uploads[u].ended;
		}
	}
	assert_int_equal(ended, count);
	for (int u = 0; u < count; u++)
		close(uploads[u].ready.fd);
}

static const char *upload(const char *name, size_t length)
{
	static struct upload one;

	one = upload_begin(name, length);
	upload_all(&one, 1);
	return one.answer;
}

static int entries_below(const char *name)
{
	char path[PATHS];
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/state/blobs/gateway/files/demo/%s", folder, name);
	dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

static int references_to(const char *name)
{
	char below[PATHS];

	snprintf(below, sizeof(below), "refs/%.2s/%s", name, name);
	return entries_below(below);
}

static void count_clicks(const struct message_meta *said, struct bytes payload, void *context)
{
	(void)payload;
	*(int *)context += strcmp(said->topic, topic_file_came.name) == 0;
}

static int clicks_heard(void)
{
	int count = 0;

	sim_log(sim, count_clicks, &count);
	return count;
}

static void must_be_kept(const char *name, size_t length)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	struct buffer there = { 0 };
	char hex[BLOB_NAME_SIZE];

	SHA256((const unsigned char *)content, length, digest);
	text_hex(digest, sizeof(digest), hex);
	assert_string_equal(name, hex);
	assert_int_equal(file_read(path_of_blob(name), LARGE + MB, &there), 0);
	assert_int_equal(there.len, length);
	assert_memory_equal(there.data, content, length);
	buffer_free(&there);
}

/* ---- tests, in this order: it is one gateway ---- */

static void a_body_of_any_size_is_a_file_before_its_message_is_said(void **state)
{
	static const size_t sizes[] = { 0, 1, 1000, 32 * 1024, 32 * 1024 + 1, LARGE };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char name[20];
		int before = clicks_heard();

		snprintf(name, sizeof(name), "size-%zu", sizes[i]);
		was_durable = false;
		must_answer(upload(name, sizes[i]), "200", "{\"accepted\":");
		assert_true(was_durable);
		assert_int_equal(looked_at, sizes[i]);
		assert_int_equal(clicks_heard(), before + 1);
		must_be_kept(kept_name, sizes[i]);
		assert_int_equal(entries_below("writing"), 0);
	}
}

static void several_large_bodies_at_once_take_no_memory(void **state)
{
	struct upload uploads[8];
	uint64_t before, most = 0;
	int ended = 0;

	(void)state;
	upload("warm", LARGE);
	before = memory_resident_bytes();
	for (int u = 0; u < 8; u++)
		uploads[u] = upload_begin(u % 2 ? "even" : "odd", u < 6 ? LARGE : 1000);
	for (int i = 0; i < 20 * PATIENCE && ended < 8; i++) {
		uint64_t now = memory_resident_bytes();

		most = now > most ? now : most;
		ended = 0;
		turn();
		for (int u = 0; u < 8; u++) {
			if (!uploads[u].ended)
				upload_go_on(&uploads[u], SIZE_MAX);
			ended += uploads[u].ended;
		}
	}
	for (int u = 0; u < 8; u++) {
		must_answer(uploads[u].answer, "200", "");
		close(uploads[u].ready.fd);
	}
	print_message("resident: %llu KB before, %llu KB at most with 120 MB of bodies\n",
		(unsigned long long)before / 1024, (unsigned long long)most / 1024);
	assert_true(most < before + MEMORY_MOST);
}

static void a_client_that_goes_away_leaves_nothing(void **state)
{
	struct upload gone = upload_begin("gone", LARGE);
	int blobs = entries_below("refs"), i;

	(void)state;
	for (i = 0; i < PATIENCE && gone.sent < 3 * MB; i++) {
		turn();
		upload_go_on(&gone, 3 * MB);
	}
	for (i = 0; i < PATIENCE && entries_below("writing") == 0; i++)
		turn();
	assert_int_equal(entries_below("writing"), 1);
	close(gone.ready.fd);
	for (i = 0; i < PATIENCE && entries_below("writing") > 0; i++)
		turn();
	assert_int_equal(entries_below("writing"), 0);
	assert_int_equal(entries_below("refs"), blobs);
}

/* Its sender is told, and what it has sent is gone. */
static void a_body_that_stops_coming_is_cut_off(void **state)
{
	struct upload slow = upload_begin("slow", LARGE);

	(void)state;
	for (int i = 0; i < PATIENCE && slow.sent < MB; i++) {
		turn();
		upload_go_on(&slow, MB);
	}
	pass(6 * US_PER_S);
	for (int i = 0; i < PATIENCE && !strstr(slow.answer, "\r\n\r\n"); i++) {
		turn();
		upload_go_on(&slow, MB);
	}
	must_answer(slow.answer, "408", "no part of the body came for 5 seconds");
	assert_int_equal(entries_below("writing"), 0);
	close(slow.ready.fd);
}

static void what_is_refused_leaves_nothing(void **state)
{
	char path[PATHS];
	int references;

	(void)state;
	must_answer(upload("refused", MB), "422", "it is no form");
	assert_int_equal(entries_below("writing"), 0);
	must_answer(upload("late", 2 * MB), "422", "not wanted after all");
	TEXT_COPY(path, path_of_blob(kept_name));
	assert_int_equal(access(path, F_OK), -1);
	must_answer(upload("wanted", 2 * MB), "200", "accepted");
	assert_int_equal(access(path, F_OK), 0);
	references = references_to(kept_name);
	must_answer(upload("late", 2 * MB), "422", "not wanted after all"); /* another's content is not taken away */
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(references_to(kept_name), references); /* and none is added to it */
}

static void what_is_too_large_or_has_no_length_is_refused(void **state)
{
	static char chunked[50 * 1024] =
		"POST /files/demo/chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
	size_t head = strlen(chunked);

	(void)state;
	must_answer(upload("small-of-chunks", 0), "200", "");
	struct upload large = upload_begin("large", 25 * MB + 1);
	for (int i = 0; i < PATIENCE && !strstr(large.answer, "\r\n\r\n"); i++) {
		turn();
		upload_go_on(&large, 0);
	}
	must_answer(large.answer, "413", "larger than is taken here");
	close(large.ready.fd);
	snprintf(chunked + head, sizeof(chunked) - head, "4\r\nabcd\r\n0\r\n\r\n");
	must_answer(ask(chunked, bytes_of("")), "200", "");
	assert_int_equal(looked_at, 4);
	snprintf(chunked + head, sizeof(chunked) - head, "a000\r\n%040000d\r\n", 0);
	must_answer(ask(chunked, bytes_of("")), "411", "");
}

/* Else a few who send a byte now and then would keep all others out for five minutes. */
static void a_body_that_hardly_comes_gives_its_place_to_another(void **state)
{
	struct upload slow[8];

	(void)state;
	for (int u = 0; u < 8; u++)
		slow[u] = upload_begin("slow", 10 * MB);
	for (size_t came = 1000; came <= 8000; came += 1000) {
		for (int u = 0; u < 8; u++)
			for (int i = 0; i < 5; i++) {
				turn();
				upload_go_on(&slow[u], came);
			}
		pass(US_PER_S);
	}
	must_answer(upload("quick", MB), "200", "accepted");
	for (int i = 0; i < PATIENCE && !strstr(slow[0].answer, "\r\n\r\n"); i++) {
		turn();
		upload_go_on(&slow[0], 8000);
	}
	must_answer(slow[0].answer, "503", "too slowly");
	assert_string_equal(slow[1].answer, "");
	for (int u = 0; u < 8; u++)
		close(slow[u].ready.fd);
	for (int i = 0; i < PATIENCE && entries_below("writing") > 0; i++)
		turn();
}

/* A network may have a quarter of what there is. */
static void bodies_at_once_are_bounded(void **state)
{
	struct upload many[9];

	(void)state;
	for (int u = 0; u < 9; u++) {
		many[u] = upload_begin("many", 10 * MB);
		for (int i = 0; i < 5; i++) {
			turn();
			upload_go_on(&many[u], 1000);
		}
	}
	for (int i = 0; i < PATIENCE && !strstr(many[8].answer, "\r\n\r\n"); i++) {
		turn();
		upload_go_on(&many[8], 1000);
	}
	must_answer(many[8].answer, "503", "too many large bodies");
	must_answer(many[8].answer, "503", "\r\nRetry-After: ");
	for (int u = 0; u < 9; u++)
		close(many[u].ready.fd);
	for (int i = 0; i < PATIENCE && entries_below("writing") > 0; i++)
		turn();
	struct upload large[6]; /* and of 128 MB on the disk at once */
	for (int u = 0; u < 6; u++) {
		large[u] = upload_begin("large", 24 * MB);
		for (int i = 0; i < 5; i++) {
			turn();
			upload_go_on(&large[u], 1000);
		}
	}
	for (int i = 0; i < PATIENCE && !strstr(large[5].answer, "\r\n\r\n"); i++) {
		turn();
		upload_go_on(&large[5], 1000);
	}
	must_answer(large[5].answer, "503", "too many large bodies");
	assert_string_equal(large[4].answer, "");
	for (int u = 0; u < 6; u++)
		close(large[u].ready.fd);
	for (int i = 0; i < PATIENCE && entries_below("writing") > 0; i++)
		turn();
	must_answer(upload("after", MB), "200", "");
}

static void a_full_disk_is_told(void **state)
{
	static struct counters counters;
	static const struct blob_use small = { .name = "small", .blob_bytes = 10 };
	static const struct endpoint_file small_file = { &small, &topic_file_came };
	static const struct endpoint rows[] = { { .file = &file }, { .file = &small_file } };
	static const unsigned statuses[] = { 507, 503 };
	const struct clock virtual_clock = clock_virtual(US_PER_S);
	struct endpoint_context context = { .clock = &virtual_clock, .counters = &counters };
	char path[PATHS];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct answer answer = { 0 };
		struct submission submission = {
			.context = &context, .endpoint = &rows[i], .answer = &answer, .names = { "demo", "", "" }
		};

		snprintf(path, sizeof(path), "%s/full-%d", folder, i);
		context.blobs = blob_uses_new(&(struct blob_uses_settings){ .root = path,
			.process = "gateway",
			.kept_free = i == 0 ? UINT64_MAX / 2 : 0,
			.clock = &virtual_clock });
		assert_int_equal(blob_uses_add(context.blobs, rows[i].file->use, 0), 0);
		assert_false(body_add(&submission, BYTES(content, 1000)));
		assert_int_equal(answer.status, statuses[i]);
		assert_int_equal(counters.refused, i + 1);
		assert_null(submission.body); /* its room is free before its client goes */
		submission_clear(&submission);
		buffer_free(&answer.body);
		blob_uses_free(context.blobs);
	}
}

static int begin_with_content(void **state)
{
	content = memory_new(LARGE + 10 * MB);
	for (size_t i = 0; i < LARGE + 10 * MB; i++)
		content[i] = (char)(i * 7 + i / 4096);
	return begin(state);
}

static int end_with_content(void **state)
{
	free(content);
	return end(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_of_any_size_is_a_file_before_its_message_is_said),
		cmocka_unit_test(several_large_bodies_at_once_take_no_memory),
		cmocka_unit_test(a_client_that_goes_away_leaves_nothing),
		cmocka_unit_test(a_body_that_stops_coming_is_cut_off),
		cmocka_unit_test(what_is_refused_leaves_nothing),
		cmocka_unit_test(what_is_too_large_or_has_no_length_is_refused),
		cmocka_unit_test(a_body_that_hardly_comes_gives_its_place_to_another),
		cmocka_unit_test(bodies_at_once_are_bounded),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, begin_with_content, end_with_content);
}
