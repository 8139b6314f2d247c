/* folded.h: what to do about the state of a service that has to be folded anew */
#ifndef BASE_FOLDED_H
#define BASE_FOLDED_H

/*
 * `where` names the folder. Nothing is deleted: a restore learns from these files what was mailed; and the folders among them are no
 * folded state: what lies in a spool, or was put aside, is nowhere else.
 */
#define FOLDED_ANEW(where) "move the files in " where " away, not the folders"

#endif
