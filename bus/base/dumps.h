/*
 * dumps.h: what a process holds in memory stays there
 *
 * Names, addresses and keys lie in it: a core file would keep them on a disk, and another process of the same user could read them.
 */
#ifndef BASE_DUMPS_H
#define BASE_DUMPS_H

/* No core file, and no debugger of the same user; unless $CARTBUS_DUMPS is set, which helps to find a fault. */
void dumps_forbid(void);

#endif
