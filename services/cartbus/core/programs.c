/* programs.c: where the other programs of this installation lie */
#include "services/cartbus/core/programs.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char INSTALLED[] = "/usr/sbin", BESIDE[] = "/sbin";

const char *programs_folder(void)
{
	static char folder[PATH_MAX + sizeof(BESIDE)];
	char program[PATH_MAX + 30];
	ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[len > 0 ? len : 0] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return INSTALLED;
	*slash = '\0';
	snprintf(program, sizeof(program), "%s/cartbus-broker", folder);
	if (access(program, X_OK) == 0)
		return folder;
	slash = strrchr(folder, '/');
	if (!slash)
		return INSTALLED;
	memcpy(slash, BESIDE, sizeof(BESIDE));
	return folder;
}
