/* When files are read: real files, time moved by hand. */
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "services/platform/mirror/watcher.h"
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define LONG_US (60 * US_PER_S)

static char root[] = "/tmp/cartbus-mirror-XXXXXX";
static struct watcher *watcher;
static struct mirror mirror_here;
static int64_t now_us;

/* ---- a kernel that gives no watches ---- */

static bool lacks_watches;

int __real_inotify_add_watch(int fd, const char *path, uint32_t mask);
int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask);

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	if (!lacks_watches)
		return __real_inotify_add_watch(fd, path, mask);
	errno = ENOSPC;
	return -1;
}

/* ---- */

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[300];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/cartbus-mirror-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	mirror_init(&mirror_here);
	watcher = watcher_new(root, &mirror_here);
	now_us = LONG_US;
	return 0;
}

static int end(void **state)
{
	(void)state;
	watcher_free(watcher);
	mirror_clear(&mirror_here);
	run("rm -rf %s", root);
	return 0;
}

static void write_file(const char *name, const char *text)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_shop(const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0750), 0);
}

/* As the loop does: wakes it when the kernel has something to tell, looks, lets the time pass that it asks for. */
static void pass(int64_t us)
{
	int64_t until_us = now_us + us;

	while (now_us <= until_us) {
		struct pollfd event = { .fd = watcher_fd(watcher), .events = POLLIN };
		if (poll(&event, 1, 0) > 0)
			watcher_wake(watcher, now_us);
		int64_t wait_us = watcher_look(watcher, now_us);
		assert_true(wait_us > 0);
		now_us += wait_us < US_PER_S / 10 ? wait_us : US_PER_S / 10;
	}
}

static char seen_text[100];
static bool is_seen;

static void note_rules(const struct shop_docs *docs, void *context)
{
	const struct doc *doc = &docs->docs[1];

	if (strcmp(docs->shop, context) != 0 || !doc->present)
		return;
	is_seen = true;
	snprintf(seen_text, sizeof(seen_text), "%.*s", (int)doc->text.len, (const char *)doc->text.data);
}

/* NULL: nothing was seen, or no such file */
static const char *rules_seen(const char *shop)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", shop);
	is_seen = false;
	mirror_each(&mirror_here, note_rules, name);
	return is_seen ? seen_text : NULL;
}

static void count(const struct shop_docs *docs, void *context)
{
	(void)docs;
	++*(int *)context;
}

static int shops_seen(void)
{
	int shops = 0;

	mirror_each(&mirror_here, count, &shops);
	return shops;
}

static void what_lies_there_at_the_start_is_seen(void **state)
{
	(void)state;
	make_shop("one");
	make_shop("two");
	write_file("one/rules.txt", "rules of one");
	write_file("two/rules.txt", "rules of two");
	write_file("README", "no shop");
	pass(US_PER_S);
	assert_int_equal(shops_seen(), 2);
	assert_string_equal(rules_seen("one"), "rules of one");
	assert_string_equal(rules_seen("two"), "rules of two");
}

static void a_saved_file_is_seen_within_a_second(void **state)
{
	(void)state;
	make_shop("one");
	write_file("one/rules.txt", "before");
	pass(US_PER_S);
	write_file("one/rules.txt", "after, in place");
	pass(US_PER_S - US_PER_S / 10);
	assert_string_equal(rules_seen("one"), "after, in place");
	write_file("one/rules.txt.new", "after, renamed");
	run("cd %s/one && mv rules.txt.new rules.txt", root);
	pass(US_PER_S - US_PER_S / 10);
	assert_string_equal(rules_seen("one"), "after, renamed");
	run("rm %s/one/rules.txt", root);
	pass(US_PER_S - US_PER_S / 10);
	assert_null(rules_seen("one"));
}

static void a_shop_that_is_added_is_seen(void **state)
{
	(void)state;
	pass(US_PER_S);
	make_shop("late");
	pass(US_PER_S / 20); /* the folder is there, its files are not yet */
	write_file("late/rules.txt", "rules");
	assert_int_equal(shops_seen(), 0);
	pass(US_PER_S - US_PER_S / 10);
	assert_string_equal(rules_seen("late"), "rules");
}

static void a_file_that_is_still_being_written_is_not_read(void **state)
{
	char text[100] = "";

	(void)state;
	make_shop("one");
	write_file("one/rules.txt", "whole");
	pass(US_PER_S);
	for (int i = 0; i < 20; i++) {
		strcat(text, "x");
		write_file("one/rules.txt", text);
		pass(US_PER_S / 20);
		assert_string_equal(rules_seen("one"), "whole");
	}
	pass(US_PER_S);
	assert_string_equal(rules_seen("one"), text);
}

static void an_event_that_is_lost_costs_seconds_not_the_edit(void **state)
{
	(void)state;
	make_shop("one");
	write_file("one/rules.txt", "before");
	pass(US_PER_S);
	write_file("one/rules.txt", "afterwards");
	struct pollfd event = { .fd = watcher_fd(watcher), .events = POLLIN };
	char lost[4096];
	while (poll(&event, 1, 0) > 0)
		assert_true(read(watcher_fd(watcher), lost, sizeof(lost)) > 0);
	pass(12 * US_PER_S);
	assert_string_equal(rules_seen("one"), "afterwards");
}

static void a_folder_that_was_replaced_is_watched_again(void **state)
{
	(void)state;
	make_shop("one");
	write_file("one/rules.txt", "first");
	pass(US_PER_S);
	run("cd %s && mv one one.old && rm -r one.old", root);
	make_shop("one");
	write_file("one/rules.txt", "second");
	pass(US_PER_S);
	assert_string_equal(rules_seen("one"), "second");
	write_file("one/rules.txt", "third");
	pass(US_PER_S - US_PER_S / 10);
	assert_string_equal(rules_seen("one"), "third");
}

static void no_folder_of_shops_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(rmdir(root), 0);
	pass(US_PER_S);
	assert_int_equal(shops_seen(), 0);
	assert_int_equal(mkdir(root, 0750), 0);
	make_shop("one");
	write_file("one/rules.txt", "rules");
	pass(12 * US_PER_S);
	assert_string_equal(rules_seen("one"), "rules");
}

struct looking {
	const char *kind;
	char found[100];
};

static void note_kind(const struct shop_docs *docs, void *context)
{
	struct looking *looking = context;

	for (size_t i = 0; i < docs->count; i++)
		if (docs->docs[i].present && strcmp(docs->docs[i].kind, looking->kind) == 0)
			snprintf(looking->found, sizeof(looking->found), "%.*s", (int)docs->docs[i].text.len,
				(const char *)docs->docs[i].text.data);
}

static bool language_is(const char *kind, const char *text)
{
	struct looking looking = { .kind = kind };

	mirror_each(&mirror_here, note_kind, &looking);
	return strcmp(looking.found, text) == 0;
}

static void a_language_is_seen_when_it_comes_and_when_it_goes(void **state)
{
	(void)state;
	make_shop("one");
	write_file("one/voice.txt", "own");
	pass(US_PER_S);
	write_file("one/voice.fr.txt", "bonjour");
	write_file("one/voice.fr.txt~", "what an editor leaves behind");
	pass(US_PER_S - US_PER_S / 10);
	assert_true(language_is("voice.fr", "bonjour") && language_is("voice", "own"));
	write_file("one/voice.fr.txt", "bonsoir");
	pass(US_PER_S - US_PER_S / 10);
	assert_true(language_is("voice.fr", "bonsoir"));
	run("rm %s/one/voice.fr.txt", root);
	pass(US_PER_S - US_PER_S / 10);
	assert_true(language_is("voice.fr", "") && language_is("voice", "own"));
	write_file("one/voice.fr.txt", "encore");
	pass(US_PER_S - US_PER_S / 10);
	assert_true(language_is("voice.fr", "encore"));
}

static void of_too_many_languages_the_first_are_read(void **state)
{
	int seen = 0;

	(void)state;
	make_shop("one");
	write_file("one/rules.txt", "rules");
	for (char first = 'a'; first <= 'd'; first++)
		for (char second = 'a'; second <= 'z'; second++) {
			char name[40];
			snprintf(name, sizeof(name), "one/voice.%c%c.txt", first, second);
			write_file(name, "x");
		}
	pass(US_PER_S);
	for (char first = 'a'; first <= 'd'; first++)
		for (char second = 'a'; second <= 'z'; second++) {
			char kind[20];
			snprintf(kind, sizeof(kind), "voice.%c%c", first, second);
			seen += language_is(kind, "x");
		}
	assert_int_equal(seen, 60);
	assert_string_equal(rules_seen("one"), "rules");
}

/* How many lines with these words the watcher logs meanwhile. */
static int lines_in(int64_t us, const char *words)
{
	FILE *lines = tmpfile();
	int kept = dup(STDERR_FILENO), count = 0;
	char line[1000];

	assert_non_null(lines);
	dup2(fileno(lines), STDERR_FILENO);
	pass(us);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(lines);
	while (fgets(line, sizeof(line), lines))
		count += strstr(line, words) != NULL;
	fclose(lines);
	return count;
}

static void folders_that_cannot_be_watched_are_read_and_logged_once(void **state)
{
	(void)state;
	make_shop("one");
	make_shop("two");
	write_file("one/rules.txt", "before");
	lacks_watches = true;
	assert_int_equal(lines_in(LONG_US, "cannot watch"), 1);
	write_file("one/rules.txt", "afterwards");
	assert_int_equal(lines_in(LONG_US, "cannot watch"), 0);
	assert_string_equal(rules_seen("one"), "afterwards");
	lacks_watches = false;
	assert_int_equal(lines_in(LONG_US, "watched again"), 1);
	assert_int_equal(lines_in(LONG_US, "watched again"), 0);
	lacks_watches = true;
	assert_int_equal(lines_in(LONG_US, "cannot watch"), 1);
	lacks_watches = false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_lies_there_at_the_start_is_seen),
		TEST(a_saved_file_is_seen_within_a_second),
		TEST(a_shop_that_is_added_is_seen),
		TEST(a_file_that_is_still_being_written_is_not_read),
		TEST(an_event_that_is_lost_costs_seconds_not_the_edit),
		TEST(a_folder_that_was_replaced_is_watched_again),
		TEST(no_folder_of_shops_is_waited_for),
		TEST(a_language_is_seen_when_it_comes_and_when_it_goes),
		TEST(of_too_many_languages_the_first_are_read),
		TEST(folders_that_cannot_be_watched_are_read_and_logged_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
