/*
 * verify_command.c: cartbus-broker --verify: checks whether a log is complete
 *
 * Owns:      the lock while it reads, the printed report.
 * Promises:  nothing is changed, and no lock is left where there was none. Exit 0: sound; 1: not sound, with
 *            the problem and its place, or there is no log; 3: a broker has the log open.
 * Read next: verify.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/verify/verify.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SOUND = 0, DAMAGED = 1, IN_USE = 3 };

static void print_progress(uint64_t done, uint64_t of)
{
	static time_t told;

	if (time(NULL) == told)
		return;
	told = time(NULL);
	fprintf(stderr, "%llu of %llu messages\n", (unsigned long long)done, (unsigned long long)of);
}

static int refuse(bool json, const char *what, const char *folder, int ended)
{
	if (json)
		printf("{\"sound\": null, \"error\": \"%s\"}\n", what);
	fprintf(stderr, "cartbus-broker --verify: %s: %s\n", folder, what);
	return ended;
}

static int told_damaged(const char *why, const char *folder, bool json)
{
	json_t *report = json_pack("{s:b,s:I,s:[{s:s,s:I}]}", "sound", 0, "problem_count", (json_int_t)1, "problems",
		"what", why, "message", (json_int_t)0);

	if (json)
		json_dumpf(report, stdout, JSON_INDENT(1));
	else
		printf("DAMAGED: %s does not open: %s\n", folder, why);
	json_decref(report);
	return DAMAGED;
}

static long long number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void print_queues(const json_t *queues)
{
	const json_t *queue;
	size_t i;

	printf("\n%-12s %10s %10s %8s %9s %9s\n", "queue", "heard", "done", "dead", "redriven", "pending");
	json_array_foreach(queues, i, queue) printf("%-12s %10lld %10lld %8lld %9lld %9lld\n",
		json_string_value(json_object_get(queue, "name")), number(queue, "heard"), number(queue, "done"),
		number(queue, "dead"), number(queue, "redriven"), number(queue, "pending"));
	puts("done: or cancelled. Each message is counted once for each queue that hears it.");
}

static void print_report(const json_t *report, const char *folder)
{
	const json_t *problem;
	size_t i;

	printf("%s: %s\n", json_is_true(json_object_get(report, "sound")) ? "SOUND" : "DAMAGED", folder);
	json_array_foreach(json_object_get(report, "problems"), i, problem) printf("  message %lld: %s\n",
		number(problem, "message"), json_string_value(json_object_get(problem, "what")));
	if ((size_t)number(report, "problem_count") > json_array_size(json_object_get(report, "problems")))
		printf("  ... %lld problems in all\n", number(report, "problem_count"));
	printf("log %s, format %s: %lld messages, %lld of them erased, and %lld dropped for their age, in %lld "
	       "commits; %lld idempotency "
	       "keys, %lld compacted rows\n",
		json_string_value(json_object_get(report, "log")), json_string_value(json_object_get(report, "format")),
		number(report, "messages"), number(report, "erased"), number(report, "dropped"),
		number(report, "commits"), number(report, "idempotency_keys"), number(report, "compacted_rows"));
	print_queues(json_object_get(report, "queues"));
	if (!json_is_true(json_object_get(report, "sound")))
		puts("\nKeep this folder for inspection, and put the newest copy of it in its place, or a backup with "
		     "cartbus restore.");
}

/* sidelog: its folder; NULL: the side log is not checked. */
static int read_log(struct verify *verify, const char *folder, const char *sidelog, bool json)
{
	int r = verify_log(verify), ended;
	bool is_whole = true;
	char words[512] = "";
	json_t *report;

	if (r < 0)
		verify_problem(verify, 0, "the store cannot be read to its end: %s",
			store_why(verify->store)[0] ? store_why(verify->store) : strerror(-r));
	report = verify_report(verify);
	if (sidelog) {
		is_whole = verify_sidelog(verify, sidelog, words);
		json_object_set_new(report, "side_log", json_pack("{s:b,s:s}", "sound", is_whole, "text", words));
	}
	if (json)
		json_dumpf(report, stdout, JSON_INDENT(1));
	else
		print_report(report, folder);
	if (!json && *words)
		printf("\nTHE SIDE LOG in %s: %s\n", sidelog, words);
	ended = json_is_true(json_object_get(report, "sound")) && is_whole ? SOUND : DAMAGED;
	json_decref(report);
	return ended;
}

static int read_locked(const char *folder, const char *sidelog, bool json, const struct verify *facts)
{
	struct verify *verify = memory_new(sizeof(*verify));
	char why[512] = "";
	int r;

	*verify = *facts;
	r = store_open_read_only(folder, &broker_store_options, &verify->store, why);
	if (r < 0) {
		free(verify);
		return told_damaged(why, folder, json);
	}
	r = read_log(verify, folder, sidelog, json);
	store_close(verify->store);
	verify_free(verify);
	free(verify);
	return r;
}

int verify_command(const char *folder, bool json, const struct topology *topology,
	const struct broker_settings *settings, int64_t now_us)
{
	const struct verify facts = { .topology = topology,
		.idem_window_us = settings->idem_window_us,
		.now_us = now_us,
		.progress = print_progress };
	_cleanup_close_ int lock = -1;
	bool is_ours;
	char path[600];
	int r;

	if (access(folder, R_OK) < 0)
		return refuse(json, strerror(errno), folder, DAMAGED);
	snprintf(path, sizeof(path), "%.580s/.lock", folder);
	is_ours = access(path, F_OK) < 0;
	r = file_lock(path, &lock);
	if (r == -EBUSY)
		return refuse(json, "a broker has it open: stop it first, or verify a copy", folder, IN_USE);
	if (r < 0 && r != -EROFS) /* on a read-only file system no broker can write */
		return refuse(json, strerror(-r), path, DAMAGED);
	r = read_locked(folder, settings->sidelog, json, &facts);
	if (is_ours && lock >= 0)
		unlink(path); /* a broker that opened it meanwhile does not get the lock (file_lock), and ends */
	return r;
}
