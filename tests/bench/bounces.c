/*
 * bounces.c: what mails that came back are taken for, with the code that runs in mailin
 *
 * bench_bounces FILE-OR-FOLDER...             one line of JSON per mail
 * bench_bounces --labels TABLE FOLDER...      the same, and how many were judged right
 *
 * TABLE: one line per mail, its file's name and `permanent`, `complaint` or `other`, with a tab between them. Mails that are not in the
 * table do not count.
 */
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/platform/mailin/report.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

struct share {
	int of, suppressed;
};

static struct {
	struct buffer labels; /* "\nname\tlabel\n..." */
	struct share permanent, complaints, others;
} bench;

static const char *label_of(const char *path)
{
	char wanted[NAME_MAX + 3];
	const char *name = strrchr(path, '/');
	snprintf(wanted, sizeof(wanted), "\n%s\t", name ? name + 1 : path);
	const char *found = strstr(buffer_text(&bench.labels), wanted);
	return found ? found + strlen(wanted) : "";
}

static const char *kind_of(const struct report *report)
{
	static const char *const kinds[] = { "none", "nothing" },
				 *const feedback[] = { "complaint", "permanent", "transient" };
	return report->kind == REPORT_FEEDBACK ? feedback[report->feedback] : kinds[report->kind];
}

static void count(const char *path, const struct report *report)
{
	const char *label = label_of(path);
	bool suppressed = report->kind == REPORT_FEEDBACK && report->feedback != FEEDBACK_BOUNCE_TRANSIENT;
	struct share *share = text_starts(label, "permanent") ? &bench.permanent
		: text_starts(label, "complaint")             ? &bench.complaints
		: text_starts(label, "other")                 ? &bench.others
							      : NULL;
	if (!share)
		return;
	share->of++;
	share->suppressed += suppressed;
}

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void look_at(const char *path)
{
	static struct report report; /* large */
	struct buffer mail = { 0 };
	int r = file_read(path, REPORT_BYTES_MOST, &mail);
	if (r < 0)
		die("%s: %s", path, strerror(-r));
	report_read(buffer_bytes(&mail), &report);
	buffer_free(&mail);
	printf("{\"file\": ");
	print_text(path);
	printf(", \"taken_for\": \"%s\", \"reason\": \"%s\", \"detail\": ", kind_of(&report),
		report.kind == REPORT_FEEDBACK && report.feedback != FEEDBACK_COMPLAINT ? reason_name(report.reason)
											: "");
	print_text(report.detail);
	printf("}\n");
	count(path, &report);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void look_into(const char *path)
{
	struct dirent **all;
	struct stat found;
	if (stat(path, &found) < 0)
		die("%s: it cannot be read", path);
	if (!S_ISDIR(found.st_mode)) {
		look_at(path);
		return;
	}
	int n = scandir(path, &all, NULL, by_name);
	for (int i = 0; i < n; i++) {
		char below[PATH_MAX];
		snprintf(below, sizeof(below), "%s/%s", path, all[i]->d_name);
		if (all[i]->d_name[0] != '.')
			look_into(below);
		free(all[i]);
	}
	if (n >= 0)
		free(all);
}

static void print_share(const char *name, const struct share *share)
{
	if (share->of)
		printf("bounces.%s_suppressed %.1f %% of %d\n", name, 100.0 * share->suppressed / share->of, share->of);
}

int main(int argc, char **argv)
{
	int i = 1;
	buffer_add_text(&bench.labels, "\n");
	if (argc > 2 && strcmp(argv[1], "--labels") == 0) {
		int r = file_read(argv[2], 64 * 1024 * 1024, &bench.labels);
		if (r < 0)
			die("%s: %s", argv[2], strerror(-r));
		i = 3;
	}
	if (i >= argc)
		die("usage: bench_bounces [--labels TABLE] FILE-OR-FOLDER...");
	report_init();
	for (; i < argc; i++)
		look_into(argv[i]);
	print_share("permanent", &bench.permanent);
	print_share("complaints", &bench.complaints);
	print_share("others", &bench.others);
	buffer_free(&bench.labels);
	return 0;
}
