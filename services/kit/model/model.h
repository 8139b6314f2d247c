/*
 * model.h: a language model is asked for a few words, and what may be believed of them
 *
 * An effect driver named "model": request struct model_request, result struct model_answer. It proposes words, never a decision,
 * and nothing waits for it: when anything goes wrong, the answer is "no words" within the deadline. The wire formats are Bedrock's
 * Converse (signed with SigV4), Anthropic's messages and the chat completions that OpenAI began and local servers speak.
 *
 * Read next: line.c (what is believed), use.h (what it may cost), polish.h (the opening line of a reminder), narrate.h (the
 *            paragraph of a summary)
 */
#ifndef KIT_MODEL_MODEL_H
#define KIT_MODEL_MODEL_H

#include "services/kit/http/http.h"

enum { MODEL_TEXT_MAX = 2000, MODEL_LINE_MAX = 160, MODEL_PARAGRAPH_MAX = 600 }; /* the last two in characters */

enum model_provider { MODEL_NONE, MODEL_BEDROCK, MODEL_ANTHROPIC, MODEL_OPENAI };

struct model_settings { /* [model] of cartbus.conf */
	enum model_provider provider;
	char url[256]; /* where the API begins, without a slash at its end */
	char model[160];
	char region[32];     /* of Bedrock */
	char ca[256];        /* "": the system's */
	char secret[40];     /* the name of the secret file; "": none (a server on this machine) */
	int64_t deadline_us; /* boot time */
	int64_t nano_usd_per_token_in, nano_usd_per_token_out;
};

/* die()s with file, line and remedy on what makes no sense. */
struct model_settings model_settings_of(const struct config *config);

struct model_request {
	char *task;      /* what is to be done: ours */
	char *data;      /* JSON: what it is done with; may hold what strangers wrote */
	int most_tokens; /* of the answer */
};
void model_request_clear(struct model_request *request);

struct model_answer {
	bool answered;
	char text[MODEL_TEXT_MAX]; /* of answered: UTF-8, complete, blanks at its ends taken off */
	uint32_t tokens_in, tokens_out;
	char words[200]; /* of not answered: why, without anything of the request */
};

/* die()s when the secret is missing; NULL for provider none. */
struct effect_driver *model_driver_new(
	const struct model_settings *settings, const struct config *config, const struct clock *clock);
/* Would it die? 0; a negative errno, and why, in the words that it would die with. */
int model_try(const struct config *config, char ret_why[512]);

/*
 * May this line be mailed? One plain line of at most 160 characters, with no URL or markup that `own` (the line it was made from,
 * the shop's name) does not have, and no number or currency that neither `own` nor `data` (what it was told of the cart) has.
 * NULL: it may; else why not, in a few words.
 */
const char *model_line_fault(const char *line, const char *own, const char *data);
/*
 * The same of one paragraph of at most 600 characters about figures that are ours: each of its numbers, also of those up to a hundred
 * that it says in words of the language, stands as a whole in `known`.
 */
const char *model_paragraph_fault(const char *text, const char *language, const char *known);

/* ---- wire.c: the three formats; for model.c and its tests ---- */

/* A whole request; its auth, URL, headers and body. */
void model_wire_request(
	const struct model_settings *settings, const struct model_request *asked, struct http_request *ret);
/* From an HTTP 200: -EBADMSG with ret->words: it is not what the format says, empty, cut off, or too long. */
int model_wire_answer(enum model_provider provider, struct bytes body, struct model_answer *ret);

#endif
