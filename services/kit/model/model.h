/*
 * model.h: asks a language model for text or JSON, and checks what may be used of the answer
 *
 * An effect driver named "model": request struct model_request, result struct model_answer. The model
 * proposes words, never a decision. Nothing depends on it: on any error the answer is "no words" within the
 * deadline. The wire formats are Bedrock's Converse (signed with SigV4), Anthropic's messages and the chat
 * completions that OpenAI began and local servers speak.
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

/* ---- models.c: all configured models ---- */

struct models {
	struct model_settings *all; /* the first is [model] */
	size_t count;               /* at least 1 */
};

/* die()s with file, line and remedy on an invalid configuration. */
struct models models_of(const struct config *config);
void models_clear(struct models *models);
/*
 * The model for questions of this name: [model NAME], even if its provider is none; else [model]. NULL or "":
 * [model].
 */
const struct model_settings *models_find(const struct models *models, const char *name);
/*
 * Would a process with these models die at its start? 0, or a negative errno with the same text in ret_why:
 * the name of a section is invalid, or a secret is missing.
 */
int model_try(const struct config *config, char ret_why[512]);

/* ---- the driver ---- */

struct model_request {
	/* the name of the question, by which models_find chooses the model; a constant, or NULL */
	const char *name;
	char *task;         /* the task, written by us */
	char *data;         /* JSON, the data for the task; may have text from strangers */
	char *schema;       /* the schema of the wanted JSON (schema.c); NULL: plain text */
	int most_tokens;    /* of the answer, 1 to MODEL_TOKENS_MAX */
	size_t most_bytes;  /* of the answer, 1 to MODEL_ANSWER_MAX: of its text, or of its JSON without blanks */
	double temperature; /* 0 (always the same words, as far as the model can) to 1 */
};
void model_request_clear(struct model_request *request);

struct model_answer {
	bool answered;
	ModelEnd end; /* if not answered: the reason, never MODEL_ANSWERED */
	/* if answered without a schema: complete UTF-8 text without blanks at its ends; else NULL */
	char *text;
	struct json_t *json; /* if answered with a schema: JSON that fits the schema; else NULL */
	uint32_t tokens_in, tokens_out;
	/* if not answered: the reason, without text from the request or the answer */
	char words[MODEL_WORDS_MAX];
};
/* The driver clears its own answers after the decision has returned. */
void model_answer_clear(struct model_answer *answer);

/* die()s if a secret is missing. Copies `models`. Returns NULL if every provider is none. */
struct effect_driver *model_driver_new(
	const struct models *models, const struct config *config, const struct clock *clock);

/* ---- line.c: what may be mailed ---- */

/*
 * May this line of that language ("de") be mailed? It must be one plain line of at most 160 characters. It must
 * have no URL or markup that `own` (the original line and the shop's name) does not have, and no number,
 * currency or word for a discount that neither `own` nor `data` (the data about the cart) has; line.c tells
 * which words count. NULL: it may; otherwise the reason in a few words.
 */
const char *model_line_fault(const char *line, const char *language, const char *own, const char *data);
/*
 * The same for one paragraph of at most 600 characters about report figures: each of its numbers must be in
 * `known` as a whole, also numbers up to a hundred that are written as words of the language.
 */
const char *model_paragraph_fault(const char *text, const char *language, const char *known);

/* ---- schema.c: the JSON schemas; for wire.c and tests ---- */

/*
 * Reads a schema. -EINVAL, and ret_why: it is outside the subset that schema.c documents. The caller frees
 * *ret (json_decref).
 */
int model_schema_read(const char *text, struct json_t **ret, char ret_why[MODEL_WORDS_MAX]);
/*
 * Does this JSON fit the schema (of model_schema_read)? false: ret_why tells where it does not, without
 * quoting the value.
 */
bool model_schema_fits(const struct json_t *schema, const struct json_t *value, char ret_why[MODEL_WORDS_MAX]);
/*
 * May OpenAI's "strict" be set? Each object of the schema must require all its properties and allow no
 * others.
 */
bool model_schema_is_strict(const struct json_t *schema);

/* ---- wire.c: the three formats; for model.c and its tests ---- */

/*
 * Makes a whole request with auth, URL, headers and body. -EINVAL, and ret_why: it cannot be made; *ret is
 * then unchanged.
 */
int model_wire_request(const struct model_settings *settings, const struct model_request *asked,
	struct http_request *ret, char ret_why[MODEL_WORDS_MAX]);
/*
 * Reads the body of an HTTP 200. -EBADMSG with ret->end and ret->words: it does not follow the format or the
 * schema, or it is refused, empty, cut off, or too long. The caller must clear *ret, also after a failure.
 */
int model_wire_answer(
	enum model_provider provider, const struct model_request *asked, struct bytes body, struct model_answer *ret);

#endif
