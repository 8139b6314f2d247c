/* log_settings.c: see log_settings.h */
#include "bus/base/log_settings.h"
#include "bus/base/journal.h"
#include "bus/base/log.h"
#include <string.h>

static enum log_level read_level(const char *text)
{
	static const struct {
		const char *name;
		enum log_level level;
	} levels[] = { { "critical", LOG_CRITICAL }, { "error", LOG_ERROR }, { "warning", LOG_WARNING },
		{ "notice", LOG_NOTICE }, { "info", LOG_INFO }, { "debug", LOG_DEBUG } };

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcmp(text, levels[i].name) == 0)
			return levels[i].level;
	die("[log] level \"%s\": expected critical, error, warning, notice, info or debug", text);
}

static enum log_form read_form(const char *text)
{
	if (strcmp(text, "text") == 0)
		return LOG_FORM_TEXT;
	if (strcmp(text, "json") == 0)
		return LOG_FORM_JSON;
	die("[log] format \"%s\": expected text or json", text);
}

void log_configure(const struct config *config, const char *process)
{
	log_open(process, read_level(config_get(config, "log", NULL, "level")));
	log_write_as(read_form(config_get(config, "log", NULL, "format")));
	if (journal_reads_stderr())
		log_to_journal(JOURNAL_SOCKET);
}
