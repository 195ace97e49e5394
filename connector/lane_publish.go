package connector

import (
	"sync/atomic"

	"pmg/sms"
)

// tally holds the counts that Publish has not published yet, and those that it published
// last.
type tally struct {
	sent, done, freed int64
	sentBy            int64  // those of done that a peer has accepted
	by                *Share // the share whose messages done and sentBy count
	at                *Stats // the counters to which length and inFlight were added
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

// settled ends a message: it was answered for good, or is given up. as is the message as it has ended, m or a copy.
func (l *Lane) settled(s *Share, m, as *sms.Message, a sms.Answer, sent int64) {
	l.count(as, a, sent)
	l.drop(s, m)
	if a.Code == sms.OK {
		l.tally.sentBy++ // l.tally.by is s now
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

// Leave takes the lane out of service: its messages are sent, and then it is gone.
func (l *Lane) Leave() { l.leaving, l.moving.rest = true, 0 }

// Gone reports whether the lane has left: all its messages were sent, and no more come.
func (l *Lane) Gone() bool { return l.gone }

// Publish updates the counters that other goroutines read. It returns true once, when a
// leaving lane has nothing more to send, so that its sessions can be logged out.
func (l *Lane) Publish() (gone bool) {
	l.countDone()
	t, stats := &l.tally, l.stats()
	if t.at != stats {
		if t.at != nil { // the lane has another home
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

// isHopeless reports whether a leaving lane cannot send its messages: it has no sessions,
// and clients cannot log in to it any more.
func isHopeless(l *Lane) bool { return l.ToClient() && l.Window.Online() == 0 }

// show updates a lane's part of a connector's counter.
func show(figure *atomic.Int64, shown *int64, value int64) {
	if value != *shown {
		figure.Add(value - *shown)
		*shown = value
	}
}

// Retry ends a pause, and makes messages due that wait for another attempt, so many of each share at most. It reports
// whether there are more.
func (l *Lane) Retry(now int64, most int) (more bool) {
	l.Throttle.paused = 0
	l.Queues.Shares(func(s *Share) {
		more = s.queue.Hasten(now, most) || more
		l.Queues.takeTurn(s, now)
	})
	return more
}

// Ends counts messages with a final receipt, and those of them that reached the mobile. It is safe for concurrent use.
type Ends struct{ Told, Reached atomic.Int64 }

// Count counts what a receipt says, if that is an end.
func (e *Ends) Count(s sms.State) {
	if !s.Final() {
		return
	}
	e.Told.Add(1)
	if s == sms.StateDelivered {
		e.Reached.Add(1)
	}
}
