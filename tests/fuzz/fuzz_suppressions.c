/*
 * fuzz_suppressions.c: whatever another tool exported as its list of suppressions, each row is an address or a reason, in the file's order
 *
 * The first byte says whether a column is asked for by its name.
 */
#include "bus/base/bytes.h"
#include "services/cartbus/people/address_list.h"
#include "tests/fuzz/fuzz.h"

struct seen {
	uint64_t last;
};

static void on_row(void *context, uint64_t first, uint64_t last, const char *text, const char *why)
{
	struct seen *seen = context;

	MUST(first >= 1 && first <= last && first >= seen->last);
	MUST(text || (why && *why));
	MUST(!text || strlen(text) <= ADDRESS_ROW_MOST);
	seen->last = last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = { 0 };
	uint64_t lines = 0;
	uint8_t copy[8192];
	FILE *file;
	int r;

	if (size < 2 || size > sizeof(copy))
		return 0;
	memcpy(copy, data + 1, size - 1);
	file = fmemopen(copy, size - 1, "r");
	MUST(file);
	r = address_list_read(file, data[0] % 2 ? "email" : NULL, on_row, &seen, &lines);
	MUST(r <= 0);
	MUST(r < 0 || seen.last <= lines);
	fclose(file);
	return 0;
}
