/*
 * queue.pml: turns, leases, expiry, dead letters and redrive, as the broker does them; checked exhaustively by spin
 *
 * Two workers of one queue; messages 0 and 1 have one key, message 2 another. A worker or the broker may crash at any point, a
 * lease may run out at any point, an operator may redrive at any point: as often as the numbers below allow. Message 2 is only
 * ever done, unless a death or a lease that ran out counts against it.
 *
 *   here                       in the code
 *   hear_turn, LEASE_FOUND     hear_turn (bus/broker/session/ingress.c), lease_find (lease.c)
 *   settle                     queue_settle (queue.c), ack_bitmap_set (ack_bitmap.c), dead_settled (dead.c)
 *   fail                       retry_failed (retry.c); expire and suspect (lease.c): whether a lease that ran out, or a death,
 *                              counts as a failure is left open here: both are tried
 *   die                        dead_letter (dead.c)
 *   redrive, MAY_REDRIVE       dead_redrive (dead.c)
 *   IS_FIRST, MAY_GO           come_out, advance_chain (queue.c)
 *   grant                      hand_out (deliver.c), lease_grant (lease.c)
 *   end_session                session_end (session.c), leases_free (lease.c)
 *   hello                      hear_hello (hello.c), session_new (bus/actor/runtime/session.c)
 *   broker_crash               queue_open, queue_refill, dead_open: what is found on the disk
 *   worker                     deliveries_decide (bus/actor/runtime/delivery.c), turn_commit and turn_refused (requests.c)
 *
 * A turn is heard and committed in one step: nothing leaves the broker in between, so a crash there is a crash before.
 *
 * What must hold, in the words of the design:
 *   - Promise 2: a redelivered message changes nothing twice; verdict and facts are committed together or not at all.
 *   - A stale receipt is refused with everything that came with it.
 *   - Promise 6: every message is in exactly one place: pending, done or dead; and in the end nothing is pending.
 *   - Messages with the same key are handed out one after the other, also across retries; a redriven one is late.
 *
 * Planted bugs, each of which must be found: BUG_STALE_RECEIPT, BUG_REDRIVE_UNCHECKED, BUG_KEYS_TOGETHER.
 */
#define MESSAGES 3
#define WORKERS 2
#define FAILURE_LIMIT 2

#ifndef FAULTS
#define FAULTS 2 /* crashes of a worker or the broker, leases that run out: together */
#endif
#ifndef REDRIVES
#define REDRIVES 2
#endif

/* the disk */
bit acked[MESSAGES], row[MESSAGES], redriven[MESSAGES]; /* acknowledged; lies among the dead; its row says redriven */
bit fact[MESSAGES];                                     /* what was decided on this message lies in the log */
byte failures[MESSAGES];

/* the broker's memory */
byte letters[MESSAGES]; /* of this message in the window: more than one is a bug */
bit leased[MESSAGES], holder[MESSAGES];
byte attempt[MESSAGES];
bit late;               /* message 1 comes before message 0 in their key's chain */
bit live[WORKERS];      /* it holds this worker's session open */

/* the workers */
bit open[WORKERS];      /* in the session that the broker opened last for it, as far as it knows */
bit refused[WORKERS];   /* a refusal lies on its lane */

/* An epoch is 1 while it is the newest of its worker and 0 ever after: that is all that anybody asks of it. */
mtype = { DONE, FAILED, NEVER };
chan lane[WORKERS] = [1] of { byte, byte };             /* message, attempt: delivered, not decided on yet */
chan said[WORKERS] = [1] of { mtype, byte, byte, bit }; /* verdict, message, attempt, epoch; the fact travels with DONE */

byte faults, redrives;

#define HAS_NEIGHBOUR(m) ((m) < 2 && letters[1 - (m)] > 0)
#define IS_FIRST(m) (!HAS_NEIGHBOUR(m) || (late == ((m) == 1)))

#ifdef BUG_KEYS_TOGETHER
#define MAY_GO(m) (letters[m] > 0 && !leased[m])
#else
#define MAY_GO(m) (letters[m] > 0 && !leased[m] && IS_FIRST(m))
#endif
#ifdef BUG_STALE_RECEIPT
#define LEASE_FOUND(w, m, a) true
#else
#define LEASE_FOUND(w, m, a) (letters[m] > 0 && leased[m] && holder[m] == (w) && attempt[m] == (a))
#endif
#ifdef BUG_REDRIVE_UNCHECKED
#define MAY_REDRIVE(m) row[m]
#else
#define MAY_REDRIVE(m) (row[m] && letters[m] == 0 && !redriven[m])
#endif

inline check_disk(m) {
	assert(!row[m] || acked[m]);
	assert(!redriven[m] || row[m]);
	assert(fact[m] == (acked[m] && !row[m]));         /* done, and only then said */
	assert(letters[m] == (!acked[m] || redriven[m]))  /* promise 6: pending once, or over */
}

inline unlease(m) {
	leased[m] = 0;
	holder[m] = 0
}

/* The letter is over. A redriven one that ended well leaves the dead; one that died again stays there. */
inline settle(m, died) {
	unlease(m);
	letters[m]--;
	attempt[m] = 0;
	failures[m] = 0;
	if
	:: !redriven[m] -> acked[m] = 1
	:: redriven[m] && !died -> row[m] = 0; redriven[m] = 0
	:: redriven[m] && died -> redriven[m] = 0
	fi
}

inline die(m) {
	row[m] = 1;
	settle(m, 1)
}

inline fail(m) {
	failures[m]++;
	if
	:: failures[m] >= FAILURE_LIMIT -> die(m)
	:: else -> unlease(m)
	fi
}

/* A frame of an epoch that is over is dropped; of a live one, the unit is taken as a whole or refused as a whole. */
inline hear_turn(w) {
	said[w]?verdict, m, a, e;
	if
	:: !live[w] || !e -> skip
	:: live[w] && e && !LEASE_FOUND(w, m, a) -> refused[w] = open[w]
	:: live[w] && e && LEASE_FOUND(w, m, a) ->
		if
		:: verdict == DONE ->
			assert(!fact[m]); /* promise 2 */
			fact[m] = 1;
			if
			:: letters[m] > 0 -> settle(m, 0)
			:: else -> skip
			fi
		:: verdict == FAILED -> fail(m)
		:: verdict == NEVER -> die(m)
		fi;
		check_disk(m)
	fi;
	verdict = 0; m = 0; a = 0; e = 0
}

/* Whether the death of a session counts against what it held is open here. */
inline end_session(w) {
	live[w] = 0;
	m = 0;
	do
	:: m < MESSAGES && leased[m] && holder[m] == w ->
		if
		:: unlease(m)
		:: fail(m)
		fi;
		m++
	:: m < MESSAGES && !(leased[m] && holder[m] == w) -> m++
	:: m == MESSAGES -> break
	od;
	m = 0
}

/* The worker says hello: what was said in an epoch before may still lie in the ingress. */
inline hello(w) {
	if
	:: live[w] -> end_session(w)
	:: else -> skip
	fi;
	if
	:: nempty(lane[w]) -> lane[w]?_, _
	:: empty(lane[w]) -> skip
	fi;
	if
	:: nempty(said[w]) -> said[w]?verdict, m, a, _; said[w]!verdict, m, a, 0; verdict = 0; m = 0; a = 0
	:: empty(said[w]) -> skip
	fi;
	live[w] = 1;
	open[w] = 1;
	refused[w] = 0
}

inline grant(m, w) {
	assert(letters[m] == 1);                      /* promise 6: it is there once */
	assert(!(m < 2 && leased[1 - m]));            /* one of a key at a time */
	assert(!(m == 1 && !acked[0]));               /* in order: what has not ended goes before */
	leased[m] = 1;
	holder[m] = w;
	attempt[m]++;
	lane[w]!m, attempt[m]
}

inline redrive(m) {
	redriven[m] = 1;
	failures[m] = 0;
	if
	:: HAS_NEIGHBOUR(m) -> late = (m == 0) /* behind whatever of its key is there */
	:: else -> skip
	fi;
	letters[m]++
}

/*
 * Memory is gone, every session with it, and what was said and not committed. The window is filled from the disk: what is pending
 * first, then what is redriven.
 */
inline broker_crash() {
	do
	:: m < MESSAGES -> letters[m] = (!acked[m] || redriven[m]); unlease(m); attempt[m] = 0; m++
	:: m == MESSAGES -> break
	od;
	m = 0;
	late = (redriven[0] && !redriven[1]);
	live[0] = 0;
	live[1] = 0;
	if
	:: nempty(said[0]) -> said[0]?_, _, _, _
	:: empty(said[0]) -> skip
	fi;
	if
	:: nempty(said[1]) -> said[1]?_, _, _, _
	:: empty(said[1]) -> skip
	fi
}

active proctype broker() {
	mtype verdict;
	byte m, a;
	bit e;

	d_step { letters[0] = 1; letters[1] = 1; letters[2] = 1 }
	do
	:: atomic { nempty(said[0]) -> hear_turn(0) }
	:: atomic { nempty(said[1]) -> hear_turn(1) }
	:: atomic { live[0] && nfull(lane[0]) && MAY_GO(0) -> grant(0, 0) }
	:: atomic { live[0] && nfull(lane[0]) && MAY_GO(1) -> grant(1, 0) }
	:: atomic { live[0] && nfull(lane[0]) && MAY_GO(2) -> grant(2, 0) }
	:: atomic { live[1] && nfull(lane[1]) && MAY_GO(0) -> grant(0, 1) }
	:: atomic { live[1] && nfull(lane[1]) && MAY_GO(1) -> grant(1, 1) }
	:: atomic { live[1] && nfull(lane[1]) && MAY_GO(2) -> grant(2, 1) }
	/* a lease runs out */
	:: atomic { faults < FAULTS && (leased[0] || leased[1] || leased[2]) -> faults++;
		if :: leased[0] -> m = 0 :: leased[1] -> m = 1 :: leased[2] -> m = 2 fi;
		if :: unlease(m) :: fail(m) fi;
		check_disk(m); m = 0 }
	/* an operator */
	:: atomic { redrives < REDRIVES && (MAY_REDRIVE(0) || MAY_REDRIVE(1) || MAY_REDRIVE(2)) -> redrives++;
		if :: MAY_REDRIVE(0) -> m = 0 :: MAY_REDRIVE(1) -> m = 1 :: MAY_REDRIVE(2) -> m = 2 fi;
		redrive(m); m = 0 }
	/* a session that fell silent */
	:: atomic { live[0] && !open[0] -> end_session(0) }
	:: atomic { live[1] && !open[1] -> end_session(1) }
	:: atomic { faults < FAULTS -> faults++; broker_crash() }
	:: timeout -> /* nothing can move any more: nothing may be pending, nobody waits behind it */
		check_disk(0); check_disk(1); check_disk(2);
		assert(letters[0] + letters[1] + letters[2] == 0);
		break
	od
}

active [WORKERS] proctype worker() {
	mtype verdict;
	byte m, a;
#define ME (_pid - 1)
end:	do
	/* it crashed, or was refused, or the broker has given the session up */
	:: atomic { !open[ME] || refused[ME] || !live[ME] -> hello(ME) }
	/* the turn: fact, verdict and receipt in one unit */
	:: atomic { open[ME] && nempty(lane[ME]) && nfull(said[ME]) -> lane[ME]?m, a;
		if
		:: said[ME]!DONE, m, a, 1
		:: m < 2 -> said[ME]!FAILED, m, a, 1
		:: m == 0 -> said[ME]!NEVER, m, a, 1
		fi;
		m = 0; a = 0 }
	/* what it said lies in the broker's ingress still; what it was given is gone unseen */
	:: atomic { faults < FAULTS && open[ME] -> faults++; open[ME] = 0; refused[ME] = 0 }
	od
}
