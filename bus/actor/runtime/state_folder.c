/* state_folder.c: the folded state of a process that does not run */
#include "bus/actor/runtime/state_folder.h"
#include "bus/actor/runtime/layers.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_rows.h"
#include <errno.h>

bool state_folder_is_in_use(const char *path)
{
	return store_is_in_use(path);
}

int state_open_folder(const char *path, struct state **ret, char ret_why[512])
{
	struct store *store = NULL;
	int r = store_open_read_only(path, &runtime_store_options, &store, ret_why);
	bool is_empty = r == -ENOENT || (r == 0 && !state_has_cursor(store));

	if (is_empty) { /* its process would empty it, and this one may not write */
		store_close(store);
		r = store_open_memory(&runtime_store_options, &store);
	}
	if (r == 0)
		*ret = state_new(&store);
	return r;
}

void state_close_folder(struct state *state)
{
	state_free(state);
}

const char *state_folder_log_id(const struct state *state)
{
	return state_log_id(state);
}
