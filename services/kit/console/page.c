/*
 * page.c: finds the row of a request, and what queries and acts ask of their call
 *
 * Promises:  the first row that fits takes the request. A shop in a path has a valid name.
 * Fails by:  nothing; a name or a field that is missing is "".
 */
#include "services/kit/console/page.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/base/text.h"
#include "services/kit/shop/shop.h"
#include "services/kit/web/form.h"
#include "services/kit/web/path.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { OWN_KEY_ROOM = sizeof(((struct page_said *)NULL)->idem) };

/* ---- the row of a path ---- */

static bool take_name(struct bytes name, struct bytes segment, void *context)
{
	struct page_call *call = context;
	struct page_name *to = &call->names[call->name_count];

	if (call->name_count == PAGE_NAMES_MAX || memchr(segment.data, '%', segment.len) || segment.len == 0)
		return false;
	if (!text_copy_bytes(to->name, sizeof(to->name), BYTES((const char *)name.data + 1, name.len - 2)) ||
		!text_copy_bytes(to->value, sizeof(to->value), segment))
		return false;
	if (strcmp(to->name, "shop") == 0 && !shop_name_valid(to->value))
		return false;
	call->name_count++;
	return true;
}

static bool row_fits(const struct page *row, const char *path, struct page_call *call)
{
	call->name_count = 0;
	return path_fits(row->path, path, take_name, call);
}

bool page_find(const struct page *const *tables, enum page_method method, const char *path, struct page_call *call,
	bool *ret_other)
{
	*ret_other = false;
	for (; *tables; tables++)
		for (const struct page *row = *tables; row->path; row++) {
			if (!row_fits(row, path, call))
				continue;
			if (row->method == method) {
				call->page = row;
				return true;
			}
			*ret_other = true;
		}
	return false;
}

/* NULL: the row is valid. */
static const char *row_fault(const struct page *row)
{
	if (row->path[0] != '/')
		return "its path does not begin with a slash";
	if (row->right <= RIGHT_NONE || row->right >= RIGHTS)
		return "it names no right";
	if (row->method == PAGE_READS)
		return !row->query ? "it has no query" : row->act ? "it reads, and has an act" : NULL;
	if (row->method == PAGE_ACTS)
		return !row->act ? "it has no act" : row->query ? "it acts, and has a query" : NULL;
	return "it has no method";
}

const char *pages_fault(const struct page *const *tables, char ret_why[200])
{
	for (; *tables; tables++)
		for (const struct page *row = *tables; row->path; row++) {
			const char *fault = row_fault(row);

			if (!fault)
				continue;
			snprintf(ret_why, 200, "the page %s: %s", row->path, fault);
			return ret_why;
		}
	return NULL;
}

/* ---- what a call has ---- */

const char *page_name(const struct page_call *call, const char *name)
{
	for (int i = 0; i < call->name_count; i++)
		if (strcmp(call->names[i].name, name) == 0)
			return call->names[i].value;
	return "";
}

const char *page_field(const struct page_call *call, const char *name)
{
	const struct form *form = call->form ? call->form : call->query;
	const char *value = form ? form_value(form, name) : NULL;

	return value ? value : "";
}

bool page_may(const struct page_call *call, enum right right)
{
	return call->may(call, right, call->shop);
}

unsigned page_refuse(struct page_call *call, unsigned status, const char *format, ...)
{
	char words[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	buffer_clear(&call->refusal);
	buffer_add_text(&call->refusal, words);
	return status;
}

/* ---- what an act does ---- */

void page_publish(
	struct page_call *call, const struct topic *topic, const struct publish_options *how, const void *message)
{
	struct page_said *said = &call->said[call->said_count];
	bool fits;

	assert(call->said_count < PAGE_SAID_MAX);
	*said = (struct page_said){ .topic = topic, .version = how->version };
	fits = TEXT_COPY(said->shop, how->shop) && TEXT_COPY(said->key, how->key) &&
		TEXT_COPY(said->idem, how->idem ? how->idem : "");
	if (!how->idem)
		snprintf(said->idem, OWN_KEY_ROOM, "console/%s", call->once);
	fits &= message_encode(topic,
			&(struct publish_options){
				.shop = said->shop, .key = said->key, .idem = said->idem, .version = said->version },
			NULL, call->now_us, message, &said->message) == 0;
	assert(fits);
	(void)fits;
	call->said_count++;
}

void page_then(struct page_call *call, const char *format, ...)
{
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(call->then, sizeof(call->then), format, arguments);
	va_end(arguments);
	assert(len > 0 && (size_t)len < sizeof(call->then));
	(void)len;
}

void page_call_clear(struct page_call *call)
{
	for (int i = 0; i < call->said_count; i++)
		buffer_free(&call->said[i].message);
	call->said_count = 0;
	json_decref(call->answer);
	call->answer = NULL;
	buffer_free(&call->refusal);
}
