/*
 * model.h: a language model is asked for words or for JSON, and what may be believed of them
 *
 * An effect driver named "model": request struct model_request, result struct model_answer. It proposes words, never a decision,
 * and nothing waits for it: when anything goes wrong, the answer is "no words" within the deadline. The wire formats are Bedrock's
 * Converse (signed with SigV4), Anthropic's messages and the chat completions that OpenAI began and local servers speak.
 *
 * An admin may configure several models: [model] is the default, [model NAME] answers the questions of that name.
 *
 * Read next: models.c (which model is asked), schema.c (JSON that may be asked for), line.c (what is believed), spend.h (what it may
 *            cost), polish.h (the opening line of a reminder), narrate.h (the paragraph of a summary)
 */
#ifndef KIT_MODEL_MODEL_H
#define KIT_MODEL_MODEL_H

#include "proto/platform_topics.h"
#include "services/kit/http/http.h"

struct json_t;

enum {
	MODEL_TEXT_MAX = 2000,        /* bytes of a plain text, with its NUL */
	MODEL_LINE_MAX = 160,         /* characters */
	MODEL_PARAGRAPH_MAX = 600,    /* characters */
	MODEL_ANSWER_MAX = 64 * 1024, /* bytes of any answer */
	MODEL_SCHEMA_MAX = 32 * 1024, /* bytes of a schema's text */
	MODEL_TOKENS_MAX = 64 * 1024, /* of an answer */
	MODEL_NAME_MAX = 31,
	MODEL_WORDS_MAX = 200
};

enum model_provider { MODEL_NONE, MODEL_BEDROCK, MODEL_ANTHROPIC, MODEL_OPENAI };

struct model_settings { /* [model] or [model NAME] of cartbus.conf */
	enum model_provider provider;
	char name[MODEL_NAME_MAX + 1]; /* "": [model] */
	char url[256];                 /* where the API begins, without a slash at its end */
	char model[160];
	char region[32];     /* of Bedrock */
	char ca[256];        /* "": the system's */
	char secret[40];     /* the name of the secret file; "": none (a server on this machine) */
	int64_t deadline_us; /* boot time */
	int64_t nano_usd_per_token_in, nano_usd_per_token_out;
};

/* ---- models.c: all that are configured ---- */

struct models {
	struct model_settings *all; /* the first is [model] */
	size_t count;               /* at least 1 */
};

/* die()s with file, line and remedy on what makes no sense. */
struct models models_of(const struct config *config);
void models_clear(struct models *models);
/* The model that answers questions of this name: [model NAME], even of provider none; else [model]. NULL or "": [model]. */
const struct model_settings *models_find(const struct models *models, const char *name);
/*
 * Would a process with these models die at its start? 0; a negative errno, and why, in the words that it would die with: a section's
 * name is no name, or a secret is missing.
 */
int model_try(const struct config *config, char ret_why[512]);

/* ---- the driver ---- */

struct model_request {
	const char *name;   /* of the question; models_find says which model it goes to. A constant, or NULL */
	char *task;         /* what is to be done: ours */
	char *data;         /* JSON: what it is done with; may hold what strangers wrote */
	char *schema;       /* JSON of this form is asked for, in the words of schema.c; NULL: plain text */
	int most_tokens;    /* of the answer, 1 to MODEL_TOKENS_MAX */
	size_t most_bytes;  /* of the answer, 1 to MODEL_ANSWER_MAX: of its text, or of its JSON without blanks */
	double temperature; /* 0 (always the same words, as far as the model can) to 1 */
};
void model_request_clear(struct model_request *request);

struct model_answer {
	bool answered;
	ModelEnd end; /* of not answered: anything but MODEL_ANSWERED */
	char *text;   /* of answered, without a schema: UTF-8, complete, blanks at its ends taken off; else NULL */
	struct json_t *json; /* of answered, with a schema: it fits the schema; else NULL */
	uint32_t tokens_in, tokens_out;
	char words[MODEL_WORDS_MAX]; /* of not answered: why, without anything of the request or of the answer */
};
/* The driver's own answers live until the decision returns: it clears them. */
void model_answer_clear(struct model_answer *answer);

/* die()s when a secret is missing. Copies `models`. NULL: all are of provider none. */
struct effect_driver *model_driver_new(
	const struct models *models, const struct config *config, const struct clock *clock);

/* ---- line.c: what may be mailed ---- */

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

/* ---- schema.c: which JSON may be asked for; for wire.c and tests ---- */

/* Reads a schema. -EINVAL and why: it is not of the subset that schema.c documents. The caller frees *ret (json_decref). */
int model_schema_read(const char *text, struct json_t **ret, char ret_why[MODEL_WORDS_MAX]);
/* Does this JSON fit? false, and where it does not, in words that hold nothing of the value. `schema`: of model_schema_read. */
bool model_schema_fits(const struct json_t *schema, const struct json_t *value, char ret_why[MODEL_WORDS_MAX]);
/* May OpenAI be told "strict"? Each object of the schema requires all its properties, and takes no others. */
bool model_schema_is_strict(const struct json_t *schema);

/* ---- wire.c: the three formats; for model.c and its tests ---- */

/* A whole request; its auth, URL, headers and body. -EINVAL, and why: it cannot be asked; *ret is then untouched. */
int model_wire_request(const struct model_settings *settings, const struct model_request *asked,
	struct http_request *ret, char ret_why[MODEL_WORDS_MAX]);
/*
 * From an HTTP 200. -EBADMSG with ret->end and ret->words: it is not what the format says or not of the form that was asked for, or
 * it is refused, empty, cut off, or too long. The caller clears *ret, also of a failure.
 */
int model_wire_answer(
	enum model_provider provider, const struct model_request *asked, struct bytes body, struct model_answer *ret);

#endif
