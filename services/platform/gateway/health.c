/* health.c: GET /healthz: whether the gateway can take something in now */
#include "services/platform/gateway/health.h"
#include "services/platform/gateway/publisher.h"
#include <inttypes.h>

static bool read_health(struct submission *submission)
{
	const struct publisher *publisher = submission->context->publisher;
	const char *trouble = publisher_trouble(publisher);
	struct answer *answer = submission->answer;

	if (trouble) {
		answer_json_error(answer, 503, trouble);
		return false;
	}
	answer->status = 200;
	answer->content_type = "application/json";
	buffer_printf(&answer->body, "{\"ready\":true,\"broker\":\"%s\",\"spooled\":%" PRIu64 "}\n",
		publisher_live(publisher) ? "connected" : "away", publisher_spooled(publisher));
	return false;
}

const struct endpoint health_endpoints[] = {
	{ "/healthz", ENDPOINT_READS, .read = read_health },
	{ 0 },
};
