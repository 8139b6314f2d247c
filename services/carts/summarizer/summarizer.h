/* summarizer.h: the service that sends the owner a summary of each month or week */
#ifndef CARTS_SUMMARIZER_SUMMARIZER_H
#define CARTS_SUMMARIZER_SUMMARIZER_H

#include "bus/actor/service.h"
#include "services/kit/model/spend.h"

extern const struct service summarizer;

struct summarizer {
	char folder[256];       /* the files are <folder>/<shop>/summary-<month or week>.txt */
	struct model_use model; /* all zero: no model */
};
SERVICE_CONTEXT(summarizer, struct summarizer);

#endif
