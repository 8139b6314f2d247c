/* test_transport_maildir.c: what lies in a Maildir, and when; without a runtime */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "services/kit/mail/transport.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/effect_stand_in.h"
#include "tests/unit/folder.h"
#include <dirent.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

struct post {
	struct folder folder;
	struct effect_driver *driver;
	struct mail *mail;
	struct effect effect;
};

static void post_new(struct post *post, bool claim)
{
	char why[160];
	*post = (struct post){ .folder = folder_new() };
	post->driver = transport_maildir_new(post->folder.path);
	assert_int_equal(mail_note("shop@shop.example", "anna@mail.example", "s", "text\n", "1.abc/d:e@shop.example", 0,
				 &post->mail, why),
		0);
	post->mail->claim = claim;
}

static void post_free(struct post *post)
{
	post->driver->close(post->driver->self);
	mail_free(post->mail);
	folder_remove(&post->folder);
}

static void start(struct post *post)
{
	post->driver->start(post->driver->self, &post->effect, post->mail);
	assert_int_equal(post->driver->wait_us(post->driver->self), 0);
	post->driver->work(post->driver->self);
}

/* As the process's loop does: until so many claims were asked for and so many effects have ended. */
static void work_until(struct post *post, int claims, int ends)
{
	struct pollfd polled = { .fd = post->driver->fd(post->driver->self), .events = POLLIN };
	while (post->effect.claims < claims || post->effect.ends < ends) {
		assert_int_equal(poll(&polled, 1, 60000), 1);
		post->driver->work(post->driver->self);
	}
	assert_int_equal(post->effect.claims, claims);
	assert_int_equal(post->effect.ends, ends);
}

static void answer(struct post *post, bool go)
{
	post->driver->proceed(post->driver->self, &post->effect, go);
	assert_int_equal(post->effect.ends, 0); /* not within the runtime's call */
	post->driver->work(post->driver->self);
	work_until(post, 1, 1);
}

static int files_in(const struct post *post, const char *name)
{
	char path[200];
	int count = 0;
	FOLDER_PATH(path, post->folder, name);
	DIR *folder = opendir(path);
	for (struct dirent *entry; (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static void a_mail_lies_in_new_only_after_a_yes(void **state)
{
	struct post post;
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char path[200];
	(void)state;
	post_new(&post, true);
	start(&post);
	work_until(&post, 1, 0);
	assert_int_equal(files_in(&post, "tmp"), 1);
	assert_int_equal(files_in(&post, "new"), 0);
	assert_int_equal(post.driver->wait_us(post.driver->self), -1);
	answer(&post, true);
	assert_int_equal(post.effect.result.end, MAIL_SENT);
	assert_int_equal(files_in(&post, "tmp"), 0);
	FOLDER_PATH(path, post.folder, "new/1.abc_d_e@shop.example");
	assert_int_equal(file_read(path, 10000, &content), 0);
	assert_true(bytes_equal(buffer_bytes(&content), buffer_bytes(&post.mail->mime)));
	post_free(&post);
}

static void a_no_leaves_nothing_behind(void **state)
{
	struct post post;
	(void)state;
	post_new(&post, true);
	start(&post);
	work_until(&post, 1, 0);
	answer(&post, false);
	assert_int_equal(post.effect.result.end, MAIL_NOT_SENT);
	assert_int_equal(files_in(&post, "tmp") + files_in(&post, "new"), 0);
	post_free(&post);
}

static void a_yes_that_has_grown_old_is_a_no(void **state)
{
	struct post post;
	(void)state;
	post_new(&post, true);
	start(&post);
	work_until(&post, 1, 0);
	post.effect.outdated = true;
	answer(&post, true);
	assert_int_equal(post.effect.result.end, MAIL_NOT_SENT);
	assert_int_equal(files_in(&post, "tmp") + files_in(&post, "new"), 0);
	post_free(&post);
}

static void a_stopped_mail_is_let_go_of_without_a_word(void **state)
{
	struct post post;
	(void)state;
	post_new(&post, true);
	start(&post);
	post.driver->stop(post.driver->self, &post.effect);
	post.driver->work(post.driver->self);
	assert_int_equal(post.effect.ends, 0);
	assert_int_equal(files_in(&post, "tmp") + files_in(&post, "new"), 0);
	post_free(&post);
}

static void the_same_mail_twice_is_one_file(void **state)
{
	struct post post;
	(void)state;
	post_new(&post, false);
	start(&post);
	start(&post);
	work_until(&post, 0, 2);
	assert_int_equal(post.effect.result.end, MAIL_SENT);
	assert_int_equal(files_in(&post, "new"), 1);
	assert_int_equal(files_in(&post, "tmp"), 0);
	post_free(&post);
}

static void a_folder_that_is_gone_is_not_sent(void **state)
{
	struct post post;
	char path[200];
	(void)state;
	post_new(&post, true);
	FOLDER_PATH(path, post.folder, "tmp");
	assert_int_equal(rmdir(path), 0);
	start(&post);
	assert_int_equal(post.effect.claims, 0);
	assert_int_equal(post.effect.result.end, MAIL_NOT_SENT);
	assert_string_equal(post.effect.result.words, "No such file or directory");
	post_free(&post);
}

static void the_null_transport_claims_and_delivers_nothing(void **state)
{
	struct effect_driver *driver = transport_null_new();
	struct mail mail = { .claim = true };
	struct effect effects[2] = { 0 };
	(void)state;
	for (int i = 0; i < 2; i++)
		driver->start(driver->self, &effects[i], &mail);
	driver->work(driver->self);
	assert_int_equal(effects[0].claims + effects[1].claims, 2);
	driver->proceed(driver->self, &effects[0], true);
	driver->proceed(driver->self, &effects[1], false);
	driver->work(driver->self);
	assert_int_equal(effects[0].result.end, MAIL_SENT);
	assert_int_equal(effects[1].result.end, MAIL_NOT_SENT);
	driver->close(driver->self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mail_lies_in_new_only_after_a_yes),
		cmocka_unit_test(a_no_leaves_nothing_behind),
		cmocka_unit_test(a_yes_that_has_grown_old_is_a_no),
		cmocka_unit_test(a_stopped_mail_is_let_go_of_without_a_word),
		cmocka_unit_test(the_same_mail_twice_is_one_file),
		cmocka_unit_test(a_folder_that_is_gone_is_not_sent),
		cmocka_unit_test(the_null_transport_claims_and_delivers_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
