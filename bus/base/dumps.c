/* dumps.c: no core files. Under systemd LimitCORE=0 does it as well; processes of `cartbus up`, or started by hand, have only this. */
#include "bus/base/dumps.h"
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

void dumps_forbid(void)
{
	const struct rlimit none = { 0, 0 };

	if (getenv("CARTBUS_DUMPS"))
		return;
	setrlimit(RLIMIT_CORE, &none); /* where either is refused there is nothing to lose by going on */
	prctl(PR_SET_DUMPABLE, 0);
}
