/* page_rows.c: prints every row of the console's pages, a JSON object a line: tests try each of them as everybody */
#include "services/console/people/person.h"
#include "services/kit/console/page.h"
#include <stdio.h>

int main(void)
{
	for (const struct page *const *table = registered_pages; *table; table++)
		for (const struct page *row = *table; row->path; row++)
			printf("{\"path\":\"%s\",\"method\":\"%s\",\"right\":\"%s\",\"again\":%s}\n", row->path,
				row->method == PAGE_ACTS ? "POST" : "GET", right_name(row->right),
				row->again ? "true" : "false");
	return 0;
}
