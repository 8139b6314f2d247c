/*
 * people_file.h: the people who may use the console, in <state>/people/people.json
 *
 * The console and `cartbus user` both write this file. Each change takes the folder's lock, reads the file, and
 * replaces it as a whole: a power cut leaves the old or the new people. The folder is not the state of a service,
 * since that may be deleted; and it is no secret of [paths] secrets, since a unit sees those read-only.
 *
 * Each line is a JSON object: the first tells the format and how many people follow, each other is a person. A file
 * with a fault is refused with its line, and never replaced.
 *
 * Read next: person.h, folder.h
 */
#ifndef CONSOLE_PEOPLE_PEOPLE_FILE_H
#define CONSOLE_PEOPLE_PEOPLE_FILE_H

#include "bus/base/cleanup.h"
#include "services/console/people/person.h"

enum { PEOPLE_WHY = 512, PEOPLE_MOST = 10000 };

struct people;

/*
 * `folder` is <state>/people (people_folder_make makes it); a folder or file that is missing has no people. 0;
 * -EBADMSG: the file has a fault; another negative errno: it cannot be read. ret_why tells which, with path and line.
 */
int people_open(const char *folder, struct people **ret, char ret_why[PEOPLE_WHY]);
void people_free(struct people *people); /* takes NULL */
DEFINE_CLEANUP(struct people *, people_free)
const char *people_folder(const struct people *people);

/*
 * Reads the file again if it is another one than before: to be called before each request. 1: it was read, 0: it is the
 * same. On an error, as of people_open, the people stay who they were.
 */
int people_look(struct people *people, char ret_why[PEOPLE_WHY]);

/* Borrowed until the next call that is not const. NULL: there is no such person. */
const struct person *people_find(const struct people *people, const char *name);
size_t people_count(const struct people *people);
const struct person *people_at(const struct people *people, size_t index); /* by name */
bool people_have_admin(const struct people *people);

/*
 * Changes, durable when they return 0. -EBUSY: another process held the lock for 2 s; -EPERM: it would take the last
 * admin away; else as people_open, or a negative errno of writing. After an error the file is as
 * it was, except where the sync of the folder failed: then it is the old or the new one.
 */
int people_add(struct people *people, const struct person *person, char ret_why[PEOPLE_WHY]); /* -EEXIST */
/* `change` gets the person as the file has it now, and may refuse with a negative errno, which is returned. -ENOENT */
typedef int person_change_fn(struct person *person, void *context);
int people_change(
	struct people *people, const char *name, person_change_fn *change, void *context, char ret_why[PEOPLE_WHY]);
int people_remove(struct people *people, const char *name, char ret_why[PEOPLE_WHY]); /* -ENOENT */

#endif
