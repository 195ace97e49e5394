package loadtest

import (
	"sync"
	"time"
)

// delayed writes a session's answers after a delay, in order.
type delayed struct {
	session *session
	by      time.Duration
	queue   chan answers
	running sync.WaitGroup
}

type answers struct {
	at    time.Time
	bytes []byte
}

// delayedAnswers is how many batches of answers of a session may wait. Beyond it the
// session does not read until one is written.
const delayedAnswers = 1024

func newDelayed(s *session, by time.Duration) *delayed {
	d := &delayed{session: s, by: by, queue: make(chan answers, delayedAnswers)}
	d.running.Go(d.write)
	return d
}

// add queues a copy of b, to be written after the delay.
func (d *delayed) add(b []byte) {
	d.queue <- answers{time.Now().Add(d.by), append([]byte(nil), b...)}
}

// finish returns when everything is written, or the sink closes.
func (d *delayed) finish() {
	close(d.queue)
	d.running.Wait()
}

func (d *delayed) write() {
	sink := d.session.sink
	for a := range d.queue {
		select {
		case <-time.After(time.Until(a.at)):
		case <-sink.closing: // the session ends, so write without the delay
		}
		if _, err := d.session.conn.Write(a.bytes); err == nil {
			sink.answered()
		}
	}
}
