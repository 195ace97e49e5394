package connector

import "pmg/sms"

// late remembers requests whose answers did not come in time, so that a late answer finds its
// message. It belongs to the goroutine that runs the session.
//
// Without late, a peer that always answers late would receive every message again and again, and
// would become even slower. So after a late answer, other answers may take twice as long as that
// answer did, until answers come in time again.
type late struct {
	requests []lateRequest // in the order in which they were given up
	timeout  int64         // how long an answer may take; 0: response_timeout
	inTime   int           // number of consecutive answers that came within response_timeout
}

type lateRequest struct {
	sequence uint32
	Unanswered
}

// An Unanswered is a request that was given up because no answer came in time.
type Unanswered struct {
	ID     uint64 // id of the message
	Sent   int64  // Unix nanoseconds
	Asked  bool   // the request was an operation
	Record []byte // what the gateway records if the peer accepted the message; nil: nothing
}

const (
	maxLate     = 4  // how many late requests are remembered, as a multiple of the window
	maxPatience = 10 // how long an answer may take at most, as a multiple of response_timeout
	inTimeAfter = 4  // how many answers must come in time before response_timeout applies again, as a multiple of the window
)

// ResponseTimeout returns how long an answer may take now, in nanoseconds.
func (l *Link) ResponseTimeout() int64 {
	return max(int64(l.Connector.Config().ResponseTimeout), l.late.timeout)
}

// GiveUp records that a request was not answered in time. token is what to record if the peer
// accepted the message.
func (l *Link) GiveUp(slot *Slot, token []byte) {
	r := &l.late.requests
	if len(*r) >= maxLate*l.Connector.Config().MostRequests() {
		*r = (*r)[:copy(*r, (*r)[1:])]
	}
	*r = append(*r, lateRequest{slot.Sequence, Unanswered{slot.Message.ID, slot.Sent, slot.Inquiry != nil, token}})
}

// Late removes and returns a request that was given up. ok is false if there is no such request.
// Afterwards answers may take longer.
func (l *Link) Late(now int64, sequence uint32) (u Unanswered, ok bool) {
	r := &l.late.requests
	for i, late := range *r {
		if late.sequence == sequence {
			*r = append((*r)[:i], (*r)[i+1:]...)
			most := maxPatience * int64(l.Connector.Config().ResponseTimeout)
			l.late.timeout = max(l.late.timeout, min(2*(now-late.Sent), most))
			l.late.inTime = 0
			return late.Unanswered, true
		}
	}
	return Unanswered{}, false
}

// Awaited records how long the answer to a request took, unless the request was given up.
func (l *Link) Awaited(took int64) {
	if l.late.timeout == 0 {
		return
	}
	cfg := l.Connector.Config()
	if took > int64(cfg.ResponseTimeout) {
		l.late.inTime = 0
		return
	}
	if l.late.inTime++; l.late.inTime >= inTimeAfter*cfg.MostRequests() {
		l.late.timeout = 0
	}
}

// AnsweredLate handles an answer that came after its request was given up. After a final answer,
// the copy of the message that still waits or is under way is not needed any more.
func (l *Lane) AnsweredLate(link *Link, u Unanswered, a sms.Answer) {
	l.Window.slots.Thaw(&link.Outlet)
	if u.Asked {
		l.Window.asking.rests = 0
	}
	o, known := l.Queues.unknown[u.ID]
	if !known || a.Code != sms.OK && a.Code.Retryable() {
		return
	}
	m, as := o.message, o.message
	m.Flags |= sms.Settled
	delete(l.Queues.unknown, u.ID)
	l.stats().Late.Add(1)
	if a.Code == sms.OK {
		m.Origin.Tally.Sent.Add(1)
	}
	if a.Code == sms.OK && o.left != m { // o.left was copied before the result of the attempt was recorded
		as = o.left
		as.Flags |= sms.Settled
		as.Attempts, as.Losses, as.Throttles, as.Tried, as.Sends = m.Attempts, m.Losses, m.Throttles, m.Tried, m.Sends
	}
	l.count(as, a, u.Sent)
	o.release()
}

// A timedOut is a message that was not answered in time, and what was sent by its latest attempt:
// the message itself, or the copy that plugins changed.
type timedOut struct {
	share         *Share
	message, left *sms.Message
}

// release releases the copy that plugins changed.
func (o timedOut) release() {
	if o.left != o.message {
		o.share.Use(-o.left.Size())
		o.left.Release()
	}
}

// timeouts are the messages of a lane for which a late answer may arrive, by id.
type timeouts map[uint64]timedOut

// remember stores a message whose request was not answered in time, so that a late answer finds it.
// The lane owns o.left from now on.
func (t *timeouts) remember(o timedOut) {
	if *t == nil {
		*t = timeouts{}
	}
	t.forget(o.message)
	if (*t)[o.message.ID] = o; o.left != o.message {
		o.share.Use(o.left.Size())
	}
}

// forget removes a message, so that a late answer does not find it any more.
func (t *timeouts) forget(m *sms.Message) {
	if o, ok := (*t)[m.ID]; ok {
		o.release()
		delete(*t, m.ID)
	}
}

// has reports whether a message is remembered for a late answer.
func (t *timeouts) has(m *sms.Message) bool {
	_, ok := (*t)[m.ID]
	return ok
}
