package loadtest

import (
	"slices"
	"sync"
	"time"
)

// deliverAgain is the pause before a delivery that the peer has refused for the moment is
// sent again.
const deliverAgain = time.Second

// mostRefused is how often the pause doubles, so that a peer that takes nothing for long is not
// kept busy: up to a minute.
const mostRefused = 6

// refusedAgain counts another refusal.
func (d *delivery) refusedAgain() *delivery {
	d.refused = min(d.refused+1, mostRefused)
	return d
}

// delivers reports whether a session sends anything that does not answer what it has just
// received.
func (o *SinkOptions) delivers() bool {
	return o.Receipts || o.Orders || o.MO.Count > 0 || o.MO.Rate > 0
}

// now returns the time since the sink began, in nanoseconds.
func (s *Sink) now() int64 { return int64(time.Since(s.began)) }

// addReceiver adds a session that has logged in to those that receive deliveries.
func (s *Sink) addReceiver(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receivers = append(s.receivers, one)
	s.startMO()
}

// removeReceiver is called when a session is about to end.
func (s *Sink) removeReceiver(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.receivers {
		if r == one {
			s.receivers = append(s.receivers[:i], s.receivers[i+1:]...)
			return
		}
	}
}

// dispatch hands deliveries to sessions that can receive them. Those for a client that has
// none wait until it logs in.
func (s *Sink) dispatch(batch []delivery) {
	var woken *session // the last one, which is often the next one too
	for i := range batch {
		to := s.hand(&batch[i])
		if to == woken {
			continue
		}
		if woken != nil {
			woken.mail.wakeUp()
		}
		woken = to
	}
	if woken != nil {
		woken.mail.wakeUp()
	}
}

// hand adds a delivery to the mail of a session, and returns that. Without one the delivery
// waits, and its submit is answered without waiting for it.
func (s *Sink) hand(d *delivery) *session {
	for {
		to := s.choose(d)
		if to == nil {
			break
		}
		if to.mail.add(d) {
			return to
		}
	}
	if d.answer.header.sequence != 0 {
		d.origin.mail.addAnswer(d)
	}
	return nil
}

// choose returns the session for a delivery. If there is none, it keeps the delivery until
// one logs in and returns nil.
func (s *Sink) choose(d *delivery) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if !d.mo && !s.o.Receipt.OtherSession && d.origin.bound().CanReceive() {
		return d.origin
	}
	for range s.receivers {
		s.nextReceiver++
		to := s.receivers[s.nextReceiver%len(s.receivers)]
		if d.mo || to.systemID == d.origin.systemID && to != d.origin {
			return to
		}
	}
	if !d.mo && d.origin.bound().CanReceive() {
		return d.origin
	}
	s.wait(d)
	return nil
}

// wait keeps a delivery until a session can receive it.
func (s *Sink) wait(d *delivery) {
	key := waitingFor{mo: d.mo}
	if !d.mo {
		key.systemID = d.origin.systemID
	}
	if s.waiting[key] == nil {
		s.waiting[key] = new(fifo)
	}
	waits := *d
	waits.answer = answerTo{}
	s.waiting[key].push(&waits)
	s.waitingCount.Add(1)
}

// waitingFor is a client, or any client for mobile-originated messages.
type waitingFor struct {
	systemID string
	mo       bool
}

// takeWaiting takes a delivery that waits for a session, or a message of the sink's own.
func (s *Sink) takeWaiting(one *session) (delivery, bool) {
	if s.waitingCount.Load() > 0 {
		if d, ok := s.popWaiting(one.systemID); ok {
			return d, true
		}
	}
	return s.takeMO()
}

func (s *Sink) popWaiting(systemID string) (d delivery, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, who := range []waitingFor{{systemID, false}, {"", true}} {
		if q := s.waiting[who]; q != nil {
			if d, ok = q.pop(); ok {
				s.waitingCount.Add(-1)
				return d, true
			}
		}
	}
	return d, false
}

// ended counts a delivery that the peer has accepted or refused, among the receipts or the sink's own messages.
func (s *Sink) ended(d *delivery, accepted bool) {
	c := &s.counts
	count := &c.receiptsRefused
	switch {
	case d.mo && accepted:
		count = &c.moAnswered
	case d.mo:
		count = &c.moRefused
	case accepted:
		count = &c.receiptsAnswered
	}
	count.Add(1)
	if d.word != nil {
		d.word.ended <- accepted
	}
}

// later holds deliveries until their time comes. They wait in batches, one for each
// millisecond.
type later struct {
	sink *Sink
	wake chan struct{}

	mu    sync.Mutex
	ticks []int64 // the milliseconds of the batches, the latest first
	at    map[int64][]delivery
}

func newLater(s *Sink) *later {
	return &later{sink: s, wake: make(chan struct{}, 1), at: map[int64][]delivery{}}
}

const tick = int64(time.Millisecond)

// add dispatches a delivery after a time.
func (l *later) add(after time.Duration, d *delivery) {
	at := (l.sink.now()+int64(after))/tick + 1
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, known := l.at[at]
	l.at[at] = append(batch, *d)
	if known {
		return
	}
	i, _ := slices.BinarySearchFunc(l.ticks, at, func(a, b int64) int { return int(b - a) })
	l.ticks = slices.Insert(l.ticks, i, at)
	if i == len(l.ticks)-1 { // at is the earliest of all
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// due takes the batches whose time has come, and returns how long it is to the next one.
func (l *later) due(now int64) (batches [][]delivery, next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := len(l.ticks) - 1; n >= 0; n-- {
		at := l.ticks[n]
		if at*tick > now {
			return batches, time.Duration(at*tick - now)
		}
		batches = append(batches, l.at[at])
		delete(l.at, at)
		l.ticks = l.ticks[:n]
	}
	return batches, time.Hour
}

// run dispatches deliveries until the sink closes.
func (l *later) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		batches, next := l.due(l.sink.now())
		for _, batch := range batches {
			l.sink.dispatch(batch)
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-l.sink.closing:
			return
		}
	}
}
