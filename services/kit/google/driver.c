/*
 * driver.c: requests to Google as effects
 *
 * Read next: calls.c, google.c
 */
#include "bus/base/memory.h"
#include "services/kit/google/google.h"
#include "services/kit/http/calls.h"

static void *begin(void *client, const void *request, const struct http_caller *caller, void *context)
{
	return google_call_new(client, request, caller, context);
}

static void stop(void *call)
{
	google_call_stop(call);
}

static int client_fd(const void *client)
{
	return google_fd(client);
}

static int64_t client_wait_us(const void *client)
{
	return google_wait_us(client);
}

static void client_work(void *client)
{
	google_work(client);
}

static void client_free(void *client)
{
	google_free(client);
}

static const struct call_way google_calls = { begin, stop, client_fd, client_wait_us, client_work, client_free };

struct effect_driver *google_driver_new(const struct google_settings *settings)
{
	struct calls *calls = memory_new(sizeof(*calls));
	calls_init(calls, "google", &google_calls, google_new(settings));
	return &calls->driver;
}
