/*
 * right.h: what a person may do in the console
 *
 * A row of page.h names one right. Roles are sets of rights (services/console/people/person.h).
 */
#ifndef KIT_CONSOLE_RIGHT_H
#define KIT_CONSOLE_RIGHT_H

enum right {
	RIGHT_NONE = 1,    /* everybody, also without a session: the sign-in page */
	RIGHT_SELF,        /* everybody who has signed in: their own sessions and looks */
	RIGHT_SEE,         /* a shop's pages, without addresses */
	RIGHT_SEE_ADDRESS, /* addresses in full, one by one, audited */
	RIGHT_WORDS,       /* the texts of mails */
	RIGHT_RULES,       /* rules.txt and shop.conf */
	RIGHT_ACT_CART,    /* write off, override, suppress a cart */
	RIGHT_LIST,        /* put an address on the list of suppressed shoppers */
	RIGHT_LIFT,        /* take one off */
	RIGHT_STOP,        /* pause a shop */
	RIGHT_MODE,        /* observe, mail-me, live; end a pause */
	RIGHT_REPORT,      /* figures and CSV */
	RIGHT_PRIVACY,     /* requests of shoppers: tell, erase */
	RIGHT_HEALTH,      /* alarms, processes, figures of the machine */
	RIGHT_QUEUE,       /* queues: look */
	RIGHT_DEAD,        /* dead letters: redrive and drop */
	RIGHT_LOG,         /* the log, masked */
	RIGHT_PEOPLE,      /* accounts and roles */
	RIGHT_AUDIT,       /* the record of who did what */
	RIGHTS
};

#endif
