/*
 * restoring.h: the mark in [paths] state from before a restore moves anything until its log has got an identity of its own
 *
 * While it lies there the broker does not start: the log may be half copied, not there at all, or about to claim mails that went.
 */
#ifndef BASE_RESTORING_H
#define BASE_RESTORING_H

#define RESTORING_MARK "restoring"

#endif
