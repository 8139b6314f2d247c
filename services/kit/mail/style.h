/*
 * style.h: the look of our mails: only buttons and pictures have a background, so that the mail program
 * chooses light or dark
 */
#ifndef KIT_MAIL_STYLE_H
#define KIT_MAIL_STYLE_H

#define STYLE_TEXT                                                                                                     \
	"font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5"
#define STYLE_HEAD "font-size:20px;line-height:1.35;font-weight:600"
#define STYLE_SMALL "font-size:13px;line-height:1.5;color:#767676"
#define STYLE_RULE "border-top:1px solid #b4b4b4"
/* In addition to the style of each element. Mail programs that drop it still show a readable mail. */
#define STYLE_SHEET                                                                                                    \
	":root{color-scheme:light dark}@media (prefers-color-scheme:dark){.quiet{color:#a6a6a6 !important}"            \
	".tile{background-color:#2c2f33 !important;color:#a6a6a6 !important}"                                          \
	".rule{border-color:#4c4c4c !important}}"

/* The text between <html ...> and the title. */
#define STYLE_META                                                                                                     \
	"<meta charset=\"utf-8\">\n"                                                                                   \
	"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"                                    \
	"<meta name=\"color-scheme\" content=\"light dark\">\n"                                                        \
	"<meta name=\"supported-color-schemes\" content=\"light dark\">\n"

#endif
