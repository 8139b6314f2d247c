/*
 * people_file.c: reads and replaces people.json
 *
 * Owns:      the people as the file last had them, sorted by name.
 * Promises:  a change is made to the file as it is under the lock, never to an older one: of two writers at a time both
 *            changes stay. A file with a fault stays as it is. A power cut leaves the old or the new file.
 * Fails by:  a negative errno, with the path (and line) in words.
 * Read next: people_line.c (one person), folder.c (the lock)
 */
#include "services/console/people/people_file.h"

#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/console/people/folder.h"
#include "services/console/people/people_line.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "people.json"
enum { FORMAT = 1 };

/* Tells one file from another: a change makes a new file, with its own inode and times. */
struct file_mark {
	bool exists;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct list_of_people {
	struct person *all;
	size_t count;
};

struct people {
	char *folder;
	struct list_of_people list;
	struct file_mark mark;
};

static void clear_list(struct list_of_people *list)
{
	for (size_t i = 0; i < list->count; i++)
		person_clear(&list->all[i]);
	free(list->all);
	*list = (struct list_of_people){ 0 };
}

/* ---- finding ---- */

/* Where the name is, or belongs. */
static size_t place_of(const struct list_of_people *list, const char *name, bool *ret_found)
{
	size_t from = 0, to = list->count;

	*ret_found = false;
	while (from < to && !*ret_found) {
		size_t middle = from + (to - from) / 2;
		int order = strcmp(list->all[middle].name, name);

		if (order == 0)
			*ret_found = true;
		if (order >= 0)
			to = middle;
		else
			from = middle + 1;
	}
	return to;
}

static struct person *find_in(const struct list_of_people *list, const char *name)
{
	bool found;
	size_t at = place_of(list, name, &found);

	return found ? &list->all[at] : NULL;
}

/* A zeroed person at its place; NULL: the name is there. */
static struct person *insert(struct list_of_people *list, const char *name)
{
	bool found;
	size_t at = place_of(list, name, &found);

	if (found)
		return NULL;
	list->all = memory_resize(list->all, (list->count + 1) * sizeof(*list->all));
	memmove(list->all + at + 1, list->all + at, (list->count - at) * sizeof(*list->all));
	list->count++;
	list->all[at] = (struct person){ 0 };
	return &list->all[at];
}

const struct person *people_find(const struct people *people, const char *name)
{
	return find_in(&people->list, name);
}

size_t people_count(const struct people *people)
{
	return people->list.count;
}

const struct person *people_at(const struct people *people, size_t index)
{
	return &people->list.all[index];
}

static bool have_admin(const struct list_of_people *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (person_is_admin(&list->all[i]))
			return true;
	return false;
}

bool people_have_admin(const struct people *people)
{
	return have_admin(&people->list);
}

const char *people_folder(const struct people *people)
{
	return people->folder;
}

/* ---- reading ---- */

static int fault(const struct people *people, size_t line, const char *words, char why[PEOPLE_WHY])
{
	snprintf(why, PEOPLE_WHY, "%s/" FILE_NAME ":%zu: %s; the file is left as it is: put a copy of it back",
		people->folder, line, words);
	return -EBADMSG;
}

static int failed(const struct people *people, int error, char why[PEOPLE_WHY])
{
	snprintf(why, PEOPLE_WHY, "%s/" FILE_NAME ": %s", people->folder,
		error == -EBUSY ? "another process has been changing it for two seconds" : strerror(-error));
	return error;
}

static int read_head(const struct people *people, const json_t *head, size_t *ret_count, char why[PEOPLE_WHY])
{
	json_int_t format = json_integer_value(json_object_get(head, "cartbus_people"));
	json_int_t count = json_integer_value(json_object_get(head, "people"));

	if (format > FORMAT)
		return fault(people, 1, "a later release wrote it", why);
	if (format != FORMAT || count < 0 || count > PEOPLE_MOST)
		return fault(people, 1, "expected {\"cartbus_people\": 1, \"people\": COUNT}", why);
	*ret_count = (size_t)count;
	return 0;
}

static int add_line(
	const struct people *people, const json_t *json, size_t line, struct list_of_people *list, char why[PEOPLE_WHY])
{
	struct person read, *person;
	char words[200];

	if (person_from_json(json, &read, words) < 0)
		return fault(people, line, words, why);
	person = insert(list, read.name);
	if (person) {
		*person = read;
		OPENSSL_cleanse(&read, sizeof(read));
		return 0;
	}
	snprintf(words, sizeof(words), "%s is there twice", read.name);
	person_clear(&read);
	return fault(people, line, words, why);
}

/* Reads one line of the text, and moves on to the next. */
static int read_line(const struct people *people, struct bytes *rest, size_t line, size_t *count,
	struct list_of_people *list, char why[PEOPLE_WHY])
{
	const char *end = memchr(rest->data, '\n', rest->len);
	json_error_t error;
	json_t *json;
	int r;

	if (!end)
		return fault(people, line, "it is cut", why);
	json = json_loadb(rest->data, (size_t)(end - (const char *)rest->data), JSON_REJECT_DUPLICATES, &error);
	*rest = BYTES(end + 1, rest->len - (size_t)(end + 1 - (const char *)rest->data));
	if (!json)
		r = fault(people, line, "it is no JSON object", why);
	else if (line == 1)
		r = read_head(people, json, count, why);
	else
		r = add_line(people, json, line, list, why);
	json_decref(json);
	return r;
}

/* On an error `ret` has the people so far, to be cleared. */
static int read_text(const struct people *people, struct bytes text, struct list_of_people *ret, char why[PEOPLE_WHY])
{
	size_t count = 0, line = 0;
	int r = text.len == 0 ? fault(people, 1, "it is empty", why) : 0;

	while (r == 0 && text.len > 0)
		r = read_line(people, &text, ++line, &count, ret, why);
	if (r == 0 && ret->count != count)
		r = fault(people, line, "the first line tells of another number of people", why);
	return r;
}

/* A missing folder or file has no people. */
static int read_file(const struct people *people, int folder, struct list_of_people *ret, char why[PEOPLE_WHY])
{
	_cleanup_(buffer_free_secret) struct buffer text = { 0 };
	int r = file_read_in(folder, FILE_NAME, PEOPLE_FILE_MOST, &text);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? failed(people, r, why) : read_text(people, buffer_bytes(&text), ret, why);
}

static int look_at(int folder, struct file_mark *ret)
{
	struct stat there;

	*ret = (struct file_mark){ 0 };
	if (fstatat(folder, FILE_NAME, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	*ret = (struct file_mark){ true, there.st_dev, there.st_ino, there.st_size, there.st_ctim };
	return 0;
}

static bool is_same(const struct file_mark *a, const struct file_mark *b)
{
	return a->exists == b->exists && a->device == b->device && a->inode == b->inode && a->size == b->size &&
		a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static void take_over(struct people *people, struct list_of_people *list, const struct file_mark *mark)
{
	clear_list(&people->list);
	people->list = *list;
	*list = (struct list_of_people){ 0 };
	people->mark = *mark;
}

/* The mark is taken before the file is read: a file that is replaced in between is read again by the next look. */
static int read_again(struct people *people, int folder, const struct file_mark *mark, char why[PEOPLE_WHY])
{
	_cleanup_(clear_list) struct list_of_people list = { 0 };
	int r = read_file(people, folder, &list, why);

	if (r == 0)
		take_over(people, &list, mark);
	return r < 0 ? r : 1;
}

int people_look(struct people *people, char ret_why[PEOPLE_WHY])
{
	_cleanup_close_ int folder = open(people->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct list_of_people nobody = { 0 };
	struct file_mark mark = { 0 };
	int r = folder >= 0 ? look_at(folder, &mark) : errno == ENOENT ? 0 : -errno;

	if (r < 0)
		return failed(people, r, ret_why);
	if (is_same(&mark, &people->mark))
		return 0;
	if (folder >= 0)
		return read_again(people, folder, &mark, ret_why);
	take_over(people, &nobody, &mark);
	return 1;
}

int people_open(const char *folder, struct people **ret, char ret_why[PEOPLE_WHY])
{
	struct people *people = memory_new(sizeof(*people));
	int r;

	people->folder = memory_copy_text(folder);
	r = people_look(people, ret_why);
	if (r < 0) {
		people_free(people);
		return r;
	}
	*ret = people;
	return 0;
}

void people_free(struct people *people)
{
	if (!people)
		return;
	clear_list(&people->list);
	free(people->folder);
	free(people);
}

/* ---- changing ---- */

static int add_json_line(struct buffer *text, json_t *json)
{
	char *line = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	if (!line)
		return -EINVAL;
	buffer_add_text(text, line);
	buffer_add_text(text, "\n");
	OPENSSL_cleanse(line, strlen(line));
	free(line);
	return 0;
}

static int print_list(const struct list_of_people *list, struct buffer *ret)
{
	int r = add_json_line(ret, json_pack("{s:i,s:I}", "cartbus_people", FORMAT, "people", (json_int_t)list->count));

	for (size_t i = 0; r == 0 && i < list->count; i++)
		r = add_json_line(ret, person_to_json(&list->all[i]));
	return r;
}

/* What a change does to the people that the file has. */
struct edit {
	int (*edit)(struct list_of_people *list, const struct edit *edit);
	const struct person *person; /* to be added */
	const char *name;            /* else */
	person_change_fn *change;
	void *context;
};

static int edit_add(struct list_of_people *list, const struct edit *edit)
{
	struct person *person;

	if (list->count == PEOPLE_MOST)
		return -E2BIG;
	person = insert(list, edit->person->name);
	if (!person)
		return -EEXIST;
	person_copy(edit->person, person);
	return 0;
}

static int edit_change(struct list_of_people *list, const struct edit *edit)
{
	struct person *person = find_in(list, edit->name);

	return person ? edit->change(person, edit->context) : -ENOENT;
}

static int edit_remove(struct list_of_people *list, const struct edit *edit)
{
	struct person *person = find_in(list, edit->name);

	if (!person)
		return -ENOENT;
	person_clear(person);
	list->count--;
	memmove(person, person + 1, (size_t)(list->all + list->count - person) * sizeof(*person));
	return 0;
}

static int explain(const struct people *people, const struct edit *edit, int error, char why[PEOPLE_WHY])
{
	const char *name = edit->person ? edit->person->name : edit->name;

	if (error == -EEXIST)
		snprintf(why, PEOPLE_WHY, "there is a person %s already", name);
	else if (error == -ENOENT)
		snprintf(why, PEOPLE_WHY, "there is no person %s", name);
	else if (error == -EPERM)
		snprintf(why, PEOPLE_WHY, "%s is the last admin: make another person admin first", name);
	else
		failed(people, error, why);
	return error;
}

static int write_list(
	struct people *people, const struct people_folder *folder, struct list_of_people *list, char why[PEOPLE_WHY])
{
	_cleanup_(buffer_free_secret) struct buffer text = { 0 };
	struct file_mark mark = { 0 };
	int r = print_list(list, &text);

	if (r == 0)
		r = people_folder_write(folder, FILE_NAME, buffer_bytes(&text));
	if (r == 0)
		r = look_at(folder->fd, &mark);
	if (r < 0)
		return failed(people, r, why);
	take_over(people, list, &mark);
	return 0;
}

static int edit_locked(
	struct people *people, const struct people_folder *folder, const struct edit *edit, char why[PEOPLE_WHY])
{
	_cleanup_(clear_list) struct list_of_people list = { 0 };
	int r = read_file(people, folder->fd, &list, why);
	bool had_admin = have_admin(&list);

	if (r < 0)
		return r;
	why[0] = '\0';
	r = edit->edit(&list, edit);
	if (r == 0 && had_admin && !have_admin(&list))
		r = -EPERM;
	if (r < 0)
		return explain(people, edit, r, why);
	return write_list(people, folder, &list, why);
}

static int edit_people(struct people *people, const struct edit *edit, char why[PEOPLE_WHY])
{
	struct people_folder folder;
	int r = people_folder_lock(people->folder, &folder);

	if (r < 0)
		return failed(people, r, why);
	r = edit_locked(people, &folder, edit, why);
	people_folder_close(&folder);
	return r;
}

int people_add(struct people *people, const struct person *person, char ret_why[PEOPLE_WHY])
{
	return edit_people(people, &(struct edit){ .edit = edit_add, .person = person }, ret_why);
}

int people_change(
	struct people *people, const char *name, person_change_fn *change, void *context, char ret_why[PEOPLE_WHY])
{
	return edit_people(people,
		&(struct edit){ .edit = edit_change, .name = name, .change = change, .context = context }, ret_why);
}

int people_remove(struct people *people, const char *name, char ret_why[PEOPLE_WHY])
{
	return edit_people(people, &(struct edit){ .edit = edit_remove, .name = name }, ret_why);
}
