/*
 * claim.pml: a claim races a stop; checked exhaustively by spin
 *
 * One reminder, two senders, a gateway with its spool, a broker, one stop. Anybody may crash at any point, be cut off, lose its
 * lease to the other or be late with its echo, as often as FAULTS allows. The queue itself is queue.pml's; here a reminder is free
 * again as soon as the broker has ended its holder's session, also where a hello would hold it on.
 *
 *   here                       in the code
 *   decide                     may_send and found_send (services/carts/sender/may_send.c), reminder_mail_new (reminder_mail.c: the attempt)
 *   say_claim, hear_claim      say_claim (bus/actor/runtime/effects.c); hear_publish, answer_repeat (bus/broker/session/ingress.c), claim_park (claim.c)
 *   DRAINED                    gateways_drained (claim.c)
 *   retry_parked               claims_retry (claim.c)
 *   let_out                    let_out_answers (bus/broker/commit.c), claims_release (claim.c): looked at once more when it leaves
 *   last_byte, lost            step and go_or_not (effects.c), may_still_send (may_send.c); effects_lost
 *   say_outcome                mail_decide (sender.c), turn_commit and say_outcomes (bus/actor/runtime/requests.c)
 *   fold (SEES_...)            sends_remember_claim, sends_remember_outcome (services/carts/policy/sends.c), stops.c
 *   gateway                    admission.c, publisher.c (services/platform/gateway); runtime_may_spool (bus/actor/runtime/runtime.c)
 *   trusted, promised          hear_heartbeat, hear_echo (bus/broker/session/session.c), beat (bus/actor/runtime/session.c)
 *
 * The gateway promises, when it echoes a ping, not to spool a stop for 1.5 s; the broker counts the same time from when it sent the
 * ping, which is earlier. So time is one rule here: a promise ends at the gateway only after it has ended at the broker. An echo is
 * heard as it is said: one that comes after its time counts for nothing, and within its time nothing that it says can change.
 * What is heard is committed with it, as in queue.pml; a claim's answer leaves later. The log is where things stand in it.
 *
 * What must hold, in the words of the design:
 *   - Promise 3: no (cart, step) is ever mailed twice; a mail that was not ambiguous goes exactly once, unless it was stopped.
 *   - Promise 4: after a stop is confirmed to the outside, no send that it forbids is claimed: no last byte follows a claim whose
 *     answer left after that.
 *   - Promise 1: the stop that was confirmed ends in the log.
 *
 * Planted bugs, each of which must be found: BUG_CLAIM_NOT_WAITED, BUG_ANSWER_NOT_HELD, BUG_NOT_PASSED, BUG_SPENT_UNCHECKED.
 */
#define SENDERS 2
#define ATTEMPTS 2

#ifndef FAULTS
#define FAULTS 2
#endif

/* the log: where the stop, the claims and their outcomes stand in it, 0: not there */
byte head, at_stop;
byte at_claim[ATTEMPTS], owner[ATTEMPTS]; /* by attempt - 1; the run of the sender that said it */
byte at_end[ATTEMPTS];
mtype = { RELEASED, SENT, AMBIGUOUS };
mtype end_is[ATTEMPTS];
bit spent;                                 /* the message is done: it is given to nobody any more */

/* the broker's memory */
byte holder;                               /* who has the reminder: sender + 1, 0: nobody */
bit live[SENDERS];                         /* sessions */
byte parked[SENDERS], parked_life[SENDERS]; /* attempt of a parked claim, whose */
mtype = { NO, FRESH, DUPLICATE };
mtype held[SENDERS] = NO;                  /* an answer that waits to leave */
bit gateway_live, trusted;                 /* the gateway's session; the ping that it echoed with nothing spooled still counts */

/* the senders */
mtype = { IDLE, ASKS, WITHDRAWS, CLAIMED, WENT, SAYS };
mtype is[SENDERS] = IDLE;
byte attempt[SENDERS], pass[SENDERS], passed[SENDERS];
byte life[SENDERS];                        /* a new one after each crash; the two senders' differ */
bit open[SENDERS], claim_said[SENDERS];
mtype answer[SENDERS] = NO;                /* on its lane */
byte answer_head[SENDERS];
mtype outcome[SENDERS];
bit forbidden[SENDERS];                    /* its claim's answer left after the stop was confirmed */

/* the gateway */
bit gateway_open, met;
byte promised;                             /* 1: and the broker may count on it; 2: it counts on it no more; 0: its time is over */
mtype = { ARRIVED, CONFIRMED };
mtype stop;                                /* as its platform knows: on its way, or confirmed with 200 */
bit spool;

/* the world */
byte mails, faults;
bit ambiguous, gave_up;

#ifdef BUG_CLAIM_NOT_WAITED
#define DRAINED true
#else
#define DRAINED (!met || (gateway_live && trusted))
#endif
#ifdef BUG_ANSWER_NOT_HELD
#define MAY_LEAVE true
#else
#define MAY_LEAVE DRAINED
#endif
#ifdef BUG_NOT_PASSED
#define HAS_PASSED(s) true
#else
#define HAS_PASSED(s) (passed[s] >= pass[s])
#endif

#define LEAVES(s, at) ((at) > 0 && (at) <= passed[s])
#define SEES_CLAIM(s, a) LEAVES(s, at_claim[(a) - 1])
#define SEES_END(s, a) LEAVES(s, at_end[(a) - 1])
#define SEES_STOP(s) LEAVES(s, at_stop)
/* the newest attempt that this sender's projections hold */
#define NEWEST(s) (SEES_CLAIM(s, 2) -> 2 : (SEES_CLAIM(s, 1) -> 1 : 0))

#define BROKEN(s) (!open[s] || !live[s])

inline stage_claim(s, a, r) {
	head++;
	at_claim[a - 1] = head;
	owner[a - 1] = r;
	held[s] = FRESH
}

/* Said again word for word it is the same saying; another's under the same key is a duplicate. */
inline hear_claim(s, a, r) {
	if
	:: at_claim[a - 1] > 0 && owner[a - 1] == r -> held[s] = FRESH
	:: at_claim[a - 1] > 0 && owner[a - 1] != r -> held[s] = DUPLICATE
	:: at_claim[a - 1] == 0 && DRAINED -> stage_claim(s, a, r)
	:: at_claim[a - 1] == 0 && !DRAINED -> parked[s] = a; parked_life[s] = r
	fi
}

inline end_session(s) {
	live[s] = 0; parked[s] = 0; parked_life[s] = 0; held[s] = NO;
	holder = (holder == s + 1 -> 0 : holder)
}

inline trust_ends() {
	trusted = 0;
	promised = (promised == 1 -> 2 : promised)
}

inline broker_crash() {
	end_session(0); end_session(1);
	gateway_live = 0;
	trust_ends() /* whatever was promised goes on at the gateway */
}

inline let_out(s) {
	if
	:: live[s] && open[s] ->
		answer[s] = held[s];
		answer_head[s] = head;
		forbidden[s] = (held[s] == FRESH && stop == CONFIRMED)
	:: else -> skip
	fi;
	held[s] = NO
}

active proctype broker() {
	do
	/* retry_parked */
	:: atomic { parked[0] > 0 && DRAINED -> hear_claim(0, parked[0], parked_life[0]); parked[0] = 0; parked_life[0] = 0 }
	:: atomic { parked[1] > 0 && DRAINED -> hear_claim(1, parked[1], parked_life[1]); parked[1] = 0; parked_life[1] = 0 }
	/* let_out: names the head of the log at this moment */
	:: atomic { held[0] != NO && MAY_LEAVE -> let_out(0) }
	:: atomic { held[1] != NO && MAY_LEAVE -> let_out(1) }
	/* sessions that fell silent */
	:: atomic { live[0] && !open[0] -> end_session(0) }
	:: atomic { live[1] && !open[1] -> end_session(1) }
	:: atomic { gateway_live && !gateway_open -> gateway_live = 0; trust_ends() }
	:: atomic { trusted && !gateway_open -> trust_ends() } /* time passes while it is away */
	:: atomic { trusted && faults < FAULTS -> faults++; trust_ends() }
	:: atomic { faults < FAULTS -> faults++; broker_crash() }
	:: atomic { holder > 0 && faults < FAULTS -> faults++; holder = 0 } /* the lease runs out */
	:: timeout -> /* nothing can move any more */
		assert(mails == (at_stop > 0 || ambiguous || gave_up -> mails : 1));
		assert(stop != CONFIRMED || (at_stop > 0 && !spool));
		assert(parked[0] == 0 && parked[1] == 0 && held[0] == NO && held[1] == NO);
		break
	od
}

#define ME (_pid - 1)

/* By what the projections hold: spent, claimed by somebody, stopped, or free: then with the next attempt's number. */
inline decide() {
	newest = NEWEST(ME);
	if
#ifdef BUG_SPENT_UNCHECKED
	:: newest < ATTEMPTS && !SEES_STOP(ME) && (newest == 0 || SEES_END(ME, newest)) -> attempt[ME] = newest + 1; is[ME] = ASKS
#else
	:: newest < ATTEMPTS && !SEES_STOP(ME) && (newest == 0 || (SEES_END(ME, newest) && end_is[newest - 1] == RELEASED)) ->
		attempt[ME] = newest + 1; is[ME] = ASKS
	:: newest > 0 && SEES_END(ME, newest) && end_is[newest - 1] != RELEASED -> spent = 1
#endif
	:: newest == ATTEMPTS && SEES_END(ME, newest) && end_is[newest - 1] == RELEASED -> spent = 1; gave_up = 1 /* enough of it */
	:: newest > 0 && !SEES_END(ME, newest) && owner[newest - 1] != life[ME] -> /* its owner fell silent for long enough */
		attempt[ME] = newest; outcome[ME] = AMBIGUOUS; is[ME] = SAYS
	:: SEES_STOP(ME) && (newest == 0 || (SEES_END(ME, newest) && end_is[newest - 1] == RELEASED)) -> spent = 1 /* skipped */
	:: else -> skip
	fi;
	newest = 0;
	holder = (is[ME] == IDLE -> 0 : ME + 1)
}

inline forget() {
	is[ME] = IDLE; attempt[ME] = 0; pass[ME] = 0; claim_said[ME] = 0; answer[ME] = NO; answer_head[ME] = 0; forbidden[ME] = 0;
	holder = (holder == ME + 1 -> 0 : holder)
}

/* Nothing was delivered: the claim is released; what has happened is said until it is confirmed. */
inline withdraw() {
	outcome[ME] = RELEASED; is[ME] = SAYS; forbidden[ME] = 0; pass[ME] = 0; claim_said[ME] = 0
}

inline lost() {
	answer[ME] = NO; answer_head[ME] = 0;
	if
	:: is[ME] == ASKS && !claim_said[ME] -> forget()
	:: is[ME] == ASKS && claim_said[ME] -> is[ME] = WITHDRAWS; claim_said[ME] = 0
	:: is[ME] == WITHDRAWS -> claim_said[ME] = 0
	:: is[ME] == CLAIMED -> withdraw()
	:: else -> skip
	fi
}

/* Does everything still hold? Its own claim is the newest and has no outcome, and no stop is known. */
#define STILL(s) (NEWEST(s) == attempt[s] && !SEES_END(s, attempt[s]) && !SEES_STOP(s))

inline last_byte() {
	assert(!forbidden[ME]); /* promise 4 */
	pass[ME] = 0;
	claim_said[ME] = 0;
	if
	:: mails++; assert(mails == 1); outcome[ME] = SENT; is[ME] = WENT  /* promise 3 */
	:: outcome[ME] = RELEASED; is[ME] = WENT                          /* 4xx: a definite no */
	:: mails++; assert(mails == 1); outcome[ME] = AMBIGUOUS; is[ME] = WENT /* no answer: it arrived */
	:: outcome[ME] = AMBIGUOUS; is[ME] = WENT                         /* no answer: it did not */
	fi
}

/* A fact about the world, with a receipt or without: ambiguous is corrected by what turns up, what is known is not. */
inline say_outcome() {
	if
	:: at_end[attempt[ME] - 1] == 0 || (end_is[attempt[ME] - 1] == AMBIGUOUS && outcome[ME] == SENT) ->
		head++;
		at_end[attempt[ME] - 1] = head;
		end_is[attempt[ME] - 1] = outcome[ME]
	:: else -> skip
	fi;
	if
	:: outcome[ME] == AMBIGUOUS -> ambiguous = 1
	:: else -> skip
	fi;
	outcome[ME] = 0;
	forget()
}

active [SENDERS] proctype sender() {
	byte newest;

	life[ME] = ME;
end:	do
	:: atomic { !open[ME] -> end_session(ME); live[ME] = 1; open[ME] = 1 }
	:: atomic { open[ME] && !live[ME] -> open[ME] = 0; lost() }
	/* projections come in order, as far as the log goes */
	:: atomic { !BROKEN(ME) && passed[ME] < head && !(spent && is[ME] == IDLE) -> passed[ME]++ }
	/* the message is given to it */
	:: atomic { !BROKEN(ME) && is[ME] == IDLE && !spent && holder == 0 -> decide() }
	/* the mail is handed over but for the last byte: the claim is said, again in a new session */
	:: atomic { !BROKEN(ME) && (is[ME] == ASKS || is[ME] == WITHDRAWS) && !claim_said[ME] ->
		claim_said[ME] = 1; hear_claim(ME, attempt[ME], life[ME]) }
	:: atomic { open[ME] && answer[ME] == FRESH -> answer[ME] = NO;
		if
		:: is[ME] == WITHDRAWS -> withdraw()
		:: is[ME] == ASKS -> is[ME] = CLAIMED; pass[ME] = answer_head[ME]
		fi;
		answer_head[ME] = 0 }
	:: atomic { open[ME] && answer[ME] == DUPLICATE -> forget() }
	:: atomic { !BROKEN(ME) && is[ME] == CLAIMED && HAS_PASSED(ME) ->
		if
		:: STILL(ME) -> last_byte()
		:: else -> withdraw()
		fi }
	/* the server has answered; until then a crash leaves it open */
	:: atomic { is[ME] == WENT -> is[ME] = SAYS; forbidden[ME] = 0 }
	:: atomic { !BROKEN(ME) && is[ME] == SAYS -> say_outcome() }
	/* a crash: nobody says any more what it did; its store falls back */
	:: atomic { faults < FAULTS -> faults++;
		open[ME] = 0; outcome[ME] = 0; passed[ME] = 0; forget(); life[ME] = life[ME] + SENDERS }
	od
}

inline log_stop() {
	if
	:: at_stop == 0 -> head++; at_stop = head
	:: else -> skip /* said before under its key */
	fi
}

active proctype gateway() {
end:	do
	:: atomic { !gateway_open -> gateway_open = 1; gateway_live = 1; met = 1; trust_ends() }
	:: atomic { gateway_open && !gateway_live -> gateway_open = 0 }
	/* a heartbeat echoes the broker's ping, and says that nothing is spooled */
	:: atomic { gateway_open && gateway_live && !trusted && !spool -> trusted = 1; promised = 1 }
	/* it ends here after it has ended at the broker */
	:: atomic { promised == 2 -> promised = 0 }
	/* somebody buys, or says no */
	:: atomic { stop == 0 -> stop = ARRIVED }
	:: atomic { stop == ARRIVED && gateway_open && gateway_live && !spool -> log_stop(); stop = CONFIRMED }
	:: atomic { stop == ARRIVED && !gateway_open && met && !promised -> spool = 1; stop = CONFIRMED }
	:: atomic { spool && gateway_open && gateway_live -> log_stop(); spool = 0 }
	/* it is cut off */
	:: atomic { gateway_open && faults < FAULTS -> faults++; gateway_open = 0 }
	/* it crashes: the spool is on the disk; after a start it has promised, for it may have */
	:: atomic { faults < FAULTS -> faults++; gateway_open = 0; promised = (trusted -> 1 : 2) }
	od
}
