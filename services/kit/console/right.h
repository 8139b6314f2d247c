/*
 * right.h: what a person may do in the console
 *
 * A row of page.h names one right. Roles are sets of rights (services/console/people/person.h).
 */
#ifndef KIT_CONSOLE_RIGHT_H
#define KIT_CONSOLE_RIGHT_H

enum right {
	RIGHT_NONE,      /* what a forgotten field has; nobody has it */
	RIGHT_ANYBODY,   /* also without a session: the sign-in page */
	RIGHT_SIGNED_IN, /* one's own sessions and looks */
	/* about one shop */
	RIGHT_SEE,
	RIGHT_SEE_ADDRESS, /* shoppers' addresses in clear */
	RIGHT_REPORT,
	RIGHT_WORDS,
	RIGHT_RULES,
	RIGHT_ACT_CART, /* suppress, write off, override */
	RIGHT_LIST,     /* put an address on the list of those who must not be mailed */
	RIGHT_LIFT,     /* and take it off again */
	RIGHT_MODE,
	RIGHT_PRIVACY,
	RIGHT_AUDIT,
	/* about the installation */
	RIGHT_HEALTH,
	RIGHT_QUEUE,
	RIGHT_DEAD,
	RIGHT_LOG,
	RIGHT_PEOPLE,
	RIGHTS
};

#endif
