/* test_key.c: a key file of no use is refused with what is wrong, and nothing of what stands in it */
#include "bus/base/bytes.h"
#include "services/kit/google/google.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_WITH(key, uri)                                                                                            \
	"{\"type\":\"service_account\",\"client_email\":\"a@b.example\",\"private_key\":\"" key                        \
	"\",\"token_uri\":\"" uri "\"}"
#define URI "https://oauth2.example/token"

static int sign(const char *text, mode_t mode, struct buffer *ret_jwt, char ret_why[200])
{
	struct folder folder = folder_new();
	char path[100], uri[256] = "";

	FOLDER_PATH(path, folder, "google.json");
	if (text) {
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
		chmod(path, mode);
	}
	int r = google_key_sign(path, "scope", 1000, ret_jwt, uri, ret_why);
	if (r == 0)
		assert_string_equal(uri, URI);
	folder_remove(&folder);
	return r;
}

/* As JSON has it: the lines of the PEM joined by \n. */
static void pem_of(EVP_PKEY *key, struct buffer *ret)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *text;

	assert_non_null(key);
	assert_int_equal(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
	long len = BIO_get_mem_data(bio, &text);
	for (long i = 0; i < len; i++)
		if (text[i] == '\n')
			buffer_add_text(ret, "\\n");
		else
			buffer_add(ret, text + i, 1);
	BIO_free(bio);
	EVP_PKEY_free(key);
}

static int sign_with(EVP_PKEY *key, struct buffer *ret_jwt, char ret_why[200])
{
	struct buffer pem = { 0 }, file = { 0 };

	pem_of(key, &pem);
	buffer_printf(&file, FILE_WITH("%s", URI), buffer_text(&pem));
	int r = sign(buffer_text(&file), 0600, ret_jwt, ret_why);
	buffer_free(&pem);
	buffer_free(&file);
	return r;
}

static void a_file_of_no_use_is_refused_with_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *why;
	} files[] = { { "", "not a JSON object" }, { "[]", "not a JSON object" },
		{ "{\"type\":1", "not a JSON object" },
		{ "{\"type\":\"a\",\"type\":\"service_account\"}", "not a JSON object" },
		{ "{\"type\":\"authorized_user\"}", "service_account" },
		{ "{\"type\":\"service_account\"}", "client_email" },
		{ "{\"type\":\"service_account\",\"client_email\":\"a@b\"}", "private_key" },
		{ FILE_WITH("k", ""), "token_uri" }, { FILE_WITH("s3cret", URI), "no RSA key" } };
	struct buffer jwt = { 0 };
	char why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_int_equal(sign(files[i].text, 0600, &jwt, why), -EBADMSG);
		if (!strstr(why, files[i].why) || strstr(why, "s3cret"))
			fail_msg("%s: %s", files[i].text, why);
		buffer_clear(&jwt);
	}
	assert_int_equal(sign(NULL, 0, &jwt, why), -ENOENT);
	assert_true(sign("{}", 0644, &jwt, why) < 0 && !strstr(why, "JSON")); /* others may read it */
	buffer_free(&jwt);
}

static void only_an_rsa_key_of_two_thousand_bits_signs(void **state)
{
	struct buffer jwt = { 0 };
	char why[200];

	(void)state;
	assert_int_equal(sign_with(EVP_RSA_gen(1024), &jwt, why), -EBADMSG);
	assert_int_equal(sign_with(EVP_EC_gen("P-256"), &jwt, why), -EBADMSG);
	buffer_clear(&jwt);
	assert_int_equal(sign_with(EVP_RSA_gen(2048), &jwt, why), 0);
	assert_null(strpbrk(buffer_text(&jwt), "+/=\n"));
	buffer_free(&jwt);
}

enum { MARK_LEN = 40, MARKS = 50 };

static char mark_at(int i)
{
	return (char)('A' + (i * 7 + 3) % 26);
}

/* Unbuffered, so that this process has no copy of the key. */
static void write_marked_file(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	fputs("{\"type\":\"service_account\",\"client_email\":\"a@b.example\",\"private_key\":\"", file);
	for (int i = 0; i < MARKS * MARK_LEN; i++)
		fputc(mark_at(i % MARK_LEN), file);
	fputs("\"}", file);
	fclose(file);
	chmod(path, 0600);
}

static bool has_mark(const char *memory, size_t len)
{
	for (size_t at = 0; at + MARK_LEN <= len; at++) {
		int i = 0;

		while (i < MARK_LEN && memory[at + (size_t)i] == mark_at(i))
			i++;
		if (i == MARK_LEN)
			return true;
	}
	return false;
}

/*
 * Looks through the memory that may be written, freed blocks too. Not the stack: the dynamic linker saves vector
 * registers there, which may hold a few bytes of any copy. Larger pieces are the sanitizer's own.
 */
static bool is_mark_in_memory(void)
{
	static char piece[1 << 16];
	FILE *maps = fopen("/proc/self/maps", "r");
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	unsigned long from, to;
	char line[512];
	bool is_there = false;

	assert_true(maps && memory >= 0);
	while (!is_there && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &from, &to) != 2 || !strstr(line, " rw") || strstr(line, "[stack]") ||
			to - from > 1 << 26)
			continue;
		for (; !is_there && from < to; from += sizeof(piece)) {
			ssize_t len = pread(memory, piece, sizeof(piece), (off_t)from);
			is_there = len > 0 && has_mark(piece, (size_t)len);
		}
	}
	fclose(maps);
	close(memory);
	return is_there;
}

static void no_block_of_memory_keeps_the_key(void **state)
{
	struct folder folder = folder_new();
	struct buffer jwt = { 0 };
	char path[100], uri[256], why[200];

	(void)state;
	FOLDER_PATH(path, folder, "google.json");
	write_marked_file(path);
	assert_int_equal(google_key_sign(path, "scope", 1000, &jwt, uri, why), -EBADMSG);
	assert_non_null(strstr(why, "token_uri"));
	assert_false(is_mark_in_memory());
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_no_use_is_refused_with_what_is_wrong),
		cmocka_unit_test(no_block_of_memory_keeps_the_key),
		cmocka_unit_test(only_an_rsa_key_of_two_thousand_bits_signs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
