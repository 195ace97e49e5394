package connector

import (
	"sync/atomic"

	"pmg/sms"
)

// tally holds counts that Publish has not published yet, and the values that Publish published
// last.
type tally struct {
	sent, done, freed int64
	sentBy            int64  // messages of done that a peer has accepted
	by                *Share // the share whose messages done and sentBy count
	at                *Stats // the counters that length and inFlight were last added to
	length, inFlight  int64
}

// countDone counts the messages that drop has released.
func (l *Lane) countDone() {
	if t := &l.tally; t.done > 0 {
		t.by.add(-t.done)
		t.by.Use(-t.freed)
		if t.sentBy > 0 {
			t.by.Origin.Tally.Sent.Add(t.sentBy)
		}
		t.done, t.freed, t.sentBy = 0, 0, 0
	}
}

// settled ends a message after its final answer, or when it is given up. as is the message in its
// final state: m or a copy.
func (l *Lane) settled(s *Share, m, as *sms.Message, a sms.Answer, sent int64) {
	l.count(as, a, sent)
	l.drop(s, m)
	if a.Code == sms.OK {
		l.tally.sentBy++ // l.tally.by equals s here
	}
}

func (l *Lane) count(m *sms.Message, a sms.Answer, sent int64) {
	l.policy.Settler.Ended(l, m, a, sent)
	if a.Code == sms.OK {
		l.tally.sent++
		return
	}
	l.stats().Failed.Add(1)
	m.Origin.Tally.Failed.Add(1)
}

// Leave takes the lane out of service. The lane still sends its messages, and is then gone.
func (l *Lane) Leave() { l.leaving, l.moving.rest = true, 0 }

// Gone reports whether the lane is out of service: all its messages are sent, and no more come.
func (l *Lane) Gone() bool { return l.gone }

// Publish updates the counters that other goroutines read. When a leaving lane has nothing more to
// send, it returns true once, so that the caller logs the lane's sessions out.
func (l *Lane) Publish() (gone bool) {
	l.countDone()
	t, stats := &l.tally, l.stats()
	if t.at != stats {
		if t.at != nil { // the lane has a new home
			show(&t.at.Queued, &t.length, 0)
			show(&t.at.InFlight, &t.inFlight, 0)
		}
		t.at = stats
	}
	if t.sent > 0 {
		stats.Sent.Add(t.sent)
		l.Delivered.Add(t.sent)
		t.sent = 0
	}
	show(&stats.Queued, &t.length, int64(l.Queues.Len()))
	show(&stats.InFlight, &t.inFlight, int64(l.Window.inFlight))
	// Queued includes messages on their way to this lane. Scheduled messages are moved to
	// other lanes.
	sent := l.Queued.Load() == 0 && l.WaitingForRoom.Load() == 0 && l.Queues.Len() == 0
	if l.leaving && !l.gone && l.Window.inFlight == 0 && (sent || isHopeless(l)) {
		l.gone = true
		return true
	}
	return false
}

// isHopeless reports whether a leaving lane cannot send its messages: the lane has no sessions, and
// clients can no longer log in to it.
func isHopeless(l *Lane) bool { return l.ToClient() && l.Window.Online() == 0 }

// show sets a lane's part of a connector's counter to value. shown is the lane's previous part.
func show(figure *atomic.Int64, shown *int64, value int64) {
	if value != *shown {
		figure.Add(value - *shown)
		*shown = value
	}
}

// Retry ends a pause. It makes messages due that wait for another attempt, up to most messages of
// each share. more is true if further messages wait for another attempt.
func (l *Lane) Retry(now int64, most int) (more bool) {
	l.Throttle.paused = 0
	l.Queues.Shares(func(s *Share) {
		more = s.queue.Hasten(now, most) || more
		l.Queues.takeTurn(s, now)
	})
	return more
}

// Ends counts messages with a final receipt (Told), and the messages among these that reached the
// mobile (Reached). It is safe for concurrent use.
type Ends struct{ Told, Reached atomic.Int64 }

// Count counts the state of a receipt, if the state is final.
func (e *Ends) Count(s sms.State) {
	if !s.Final() {
		return
	}
	e.Told.Add(1)
	if s == sms.StateDelivered {
		e.Reached.Add(1)
	}
}
