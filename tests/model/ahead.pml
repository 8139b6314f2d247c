/*
 * ahead.pml: a worker decides ahead of the confirms, and a turn in the middle is refused; checked exhaustively by spin
 *
 * One exclusive worker; each message's turn says one fact. The worker decides on the facts of its earlier turns, confirmed or not
 * yet. The broker may refuse a turn for good, a lease may run out under a turn that is on its way, a session or the broker may end
 * at any point: as often as the numbers below allow.
 *
 *   here                       in the code
 *   hear_turn, refuse          hear_turn, refuse_turn (bus/broker/session/ingress.c)
 *   hello                      session_new (bus/actor/runtime/session.c): nothing is decided before the state has caught up
 *   worker                     deliveries_decide (bus/actor/runtime/delivery.c), turn_confirmed and turn_refused (requests.c)
 *
 * What must hold, in the words of the design:
 *   - Within a session a decision sees the facts of the decisions before it; if a turn is refused, the session ends and the process
 *     goes on from what was committed. So whatever is committed was decided on just what was committed before it.
 *   - Every message is done or dead in the end.
 *
 * Planted bug, which must be found: BUG_GO_ON_BEHIND_REFUSED.
 */
#define MESSAGES 4
#define AHEAD 3 /* turns on the way */
#define ALL ((1 << MESSAGES) - 1)
#define BIT(m) (1 << (m))

#ifndef FAULTS
#define FAULTS 2
#endif

/* sets of messages, as bits; the disk: whose fact lies in the log, and what is dead */
byte facts, dead;

/* the broker's memory */
byte leased;
bit live;         /* it holds the worker's session open */
bit turn_refused; /* one of that session */

/* the worker */
bit open;
byte seen; /* the facts it decides on: of the log, and its own that are not confirmed yet */

mtype = { COMMITTED, REFUSED };
chan lane = [MESSAGES] of { byte };     /* delivered, not decided on yet */
chan said = [AHEAD] of { byte, byte };  /* message, the facts that its decision saw */
chan told = [AHEAD] of { mtype };

byte faults;

inline refuse() {
#ifndef BUG_GO_ON_BEHIND_REFUSED
	turn_refused = 1;
#endif
	told!REFUSED
}

inline hear_turn() {
	said?m, saw;
	if
	:: !live -> skip
	:: live && (turn_refused || !(leased & BIT(m))) -> refuse()
	:: live && !turn_refused && (leased & BIT(m)) ->
		leased = leased & ~BIT(m);
		if
		:: assert(saw == facts); facts = facts | BIT(m); told!COMMITTED
		:: m == 1 -> dead = dead | BIT(m); refuse() /* its fact may not be said */
		fi
	fi;
	m = 0; saw = 0
}

/* What was on the way in the session before is dropped by whoever gets it. */
inline end_session() {
	live = 0;
	leased = 0;
	turn_refused = 0;
	do
	:: nempty(lane) -> lane?_
	:: nempty(said) -> said?_, _
	:: nempty(told) -> told?_
	:: empty(lane) && empty(said) && empty(told) -> break
	od
}

inline hello() {
	end_session();
	live = 1;
	open = 1;
	seen = facts
}

active proctype broker() {
	byte m, saw;

	do
	:: atomic { nempty(said) && nfull(told) -> hear_turn() }
	:: atomic { live && nfull(lane) && ((facts | dead | leased) & ALL) != ALL ->
		do
		:: (facts | dead | leased) & BIT(m) -> m++
		:: else -> break
		od;
		leased = leased | BIT(m);
		lane!m;
		m = 0 }
	/* a lease runs out; the session stays */
	:: atomic { faults < FAULTS && leased ->
		faults++;
		do
		:: leased & BIT(m) -> break
		:: m < MESSAGES - 1 -> m++
		:: m == MESSAGES - 1 -> break
		od;
		leased = leased & ~BIT(m);
		m = 0 }
	/* it gives the session up, or dies */
	:: atomic { faults < FAULTS && live -> faults++; end_session() }
	:: timeout -> assert((facts | dead) == ALL); break
	od
}

active proctype worker() {
	byte m;
	mtype kind;

end:	do
	:: atomic { !open || !live -> hello() }
	:: atomic { open && nempty(lane) && nfull(said) -> lane?m; said!m, seen; seen = seen | BIT(m); m = 0 }
	:: atomic { open && nempty(told) -> told?kind; open = (kind == COMMITTED); kind = 0 }
	od
}
