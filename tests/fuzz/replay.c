/*
 * replay.c: gives a target every file of a folder, in any build
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "tests/fuzz/fuzz.h"
#include <dirent.h>
#include <limits.h>

enum { INPUT_MAX = 8 << 20 };

static void replay(const char *path)
{
	_cleanup_(buffer_free) struct buffer input = { 0 };
	int r = file_read(path, INPUT_MAX, &input);
	if (r < 0)
		die("%s: %s", path, strerror(-r));
	/* exactly as long as it is: reading one byte too many is what the sanitizer should see */
	_cleanup_free_ uint8_t *exact = malloc(input.len ? input.len : 1);
	if (!exact)
		die("no memory for %s", path);
	if (input.len)
		memcpy(exact, input.data, input.len);
	LLVMFuzzerTestOneInput(exact, input.len);
}

int main(int argc, char **argv)
{
	int count = 0;
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	if (!folder)
		die("usage: %s FOLDER", argv[0]);
	for (struct dirent *entry; (entry = readdir(folder));) {
		char path[PATH_MAX];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		replay(path);
		count++;
	}
	closedir(folder);
	printf("%d inputs\n", count);
	return count > 0 ? 0 : 1;
}
