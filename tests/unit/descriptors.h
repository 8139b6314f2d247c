/*
 * descriptors.h: whether something left a descriptor open
 */
#ifndef TESTS_UNIT_DESCRIPTORS_H
#define TESTS_UNIT_DESCRIPTORS_H

#include <fcntl.h>
#include <unistd.h>

/* The number that the next descriptor gets. It is the same before and after what closes all that it opens. */
static inline int lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

#endif
