/* log_settings.c: see log_settings.h */
#include "bus/base/log_settings.h"
#include "bus/base/journal.h"
#include "bus/base/log.h"

/* In the order of the words of [log] level and format. */
static const enum log_level levels[] = { LOG_CRITICAL, LOG_ERROR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };
static const enum log_form forms[] = { LOG_FORM_TEXT, LOG_FORM_JSON };

void log_configure(const struct config *config, const char *process)
{
	log_open(process, levels[config_word(config, "log", NULL, "level")]);
	log_write_as(forms[config_word(config, "log", NULL, "format")]);
	if (journal_reads_stderr())
		log_to_journal(JOURNAL_SOCKET);
}
