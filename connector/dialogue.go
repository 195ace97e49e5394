package connector

import "pmg/internal/ratelimit"

// A Dialogue is what the goroutine that runs a session knows of it.
type Dialogue struct {
	Phase     Phase
	BoundAt   int64 // when it logged in, in Unix nanoseconds; 0: it has not
	LeavingAt int64 // when our logout was asked for, which waits for the answers to our requests; 0: it was not

	// These stay true however the life of the session goes on.
	Admitted     bool   // counted by Connector.BindClient
	LoggedOut    bool   // we are logging out, or have logged out, so that its end is no failure
	Revoked      bool   // its account may not have it any more: nothing that it asks for is accepted until it ends
	TakesNothing bool   // the peer takes no message in this session, which is closed without a logout
	EndReason    string // why it ended, if our last PDU is the delayed answer to a login

	Undecided      bool              // whether a login or a message is accepted is not decided yet; PDUs wait behind it
	WaitingForRoom int               // submits that wait for room
	Storing        int               // messages that wait for their commit, and operations under way
	Operating      int               // operations under way
	Refusals       ratelimit.Limiter // of what it is refused
	late           late
}

// A Phase is how far the life of a session has come. Only a login that is refused in an open
// session leads back.
//
//	            login              accepted        our logout waits       it is sent
//	Connected ─────────► LoggingIn ────────► Bound ────────────────► Leaving ────────► LoggingOut
//	    ▲    refused         │                 │                        │                   │
//	    └────────────────────┘                 └────────────────────────┴───────────────────┤
//	                                                                     the peer logs out  ▼
//	                                                                                     Draining
//	any ──our last PDU, or the end of the connection, is on its way──► Ended
//	any ──all that was read is handled──► Over
type Phase uint8

// The phases. Where we log in, Bound follows Connected.
const (
	Connected  Phase = iota
	LoggingIn        // a login of the peer is not decided yet
	Bound            // logged in
	Leaving          // we give it no more messages, and log out when it has answered those that it has
	LoggingOut       // our logout is on its way
	Draining         // the peer logs out, or we do without a PDU for that: nothing but the answer to that is still sent
	Ended            // our last PDU is on its way; requests are not answered any more
	Over             // no more PDUs follow
)

// Enter notes that the session has come to a phase, unless it is past that.
func (d *Dialogue) Enter(p Phase) { d.Phase = max(d.Phase, p) }

// LoginDecided ends the phase LoggingIn. Others follow if the login was accepted, or if the
// session ends because it was not.
func (d *Dialogue) LoginDecided() {
	if d.Phase == LoggingIn {
		d.Phase = Connected
	}
}

// HasEnded reports whether our last PDU is on its way, or the session is over.
func (d *Dialogue) HasEnded() bool { return d.Phase >= Ended }

// WasBound reports whether the session has ever been logged in.
func (d *Dialogue) WasBound() bool { return d.BoundAt != 0 }
