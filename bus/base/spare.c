#include "bus/base/spare.h"
#include <fcntl.h>
#include <unistd.h>

void spare_keep(struct spare *spare)
{
	if (spare->fd < 0)
		spare->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool spare_lend(struct spare *spare)
{
	spare_keep(spare);
	if (spare->fd < 0)
		return false;
	close(spare->fd);
	spare->fd = -1;
	return true;
}
