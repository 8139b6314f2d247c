/*
 * cleanup.h: things that end with their scope
 *
 * `_cleanup_(foo_freep) struct foo *f = NULL;` The function gets the address of the variable, and must take NULL inside it.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

/* For `struct x *` with `x_free(struct x *)`: defines x_freep. */
#define DEFINE_CLEANUP(type, free_function)                                                                            \
	static inline void free_function##p(type *p)                                                                   \
	{                                                                                                              \
		if (*p)                                                                                                \
			free_function(*p);                                                                             \
	}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

/* Hand a pointer over: the variable becomes NULL and is no longer freed at the end of the scope. */
#define TAKE(p)                                                                                                        \
	__extension__({                                                                                                \
		__typeof__(p) taken_ = (p);                                                                            \
		(p) = NULL;                                                                                            \
		taken_;                                                                                                \
	})

#endif
