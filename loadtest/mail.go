package loadtest

import (
	"sync"
	"time"
)

// A mail holds the deliveries of a session of a sink: those that wait, and those that the peer has
// not answered. Any goroutine adds to it. The session's goroutine sends from it with the answers of
// a batch, and the session's postman when another goroutine has added something.
type mail struct {
	session *session
	wake    chan struct{} // to the postman
	done    chan struct{} // ends the postman
	running sync.WaitGroup

	mu          sync.Mutex
	wire        wire
	closed      bool // nothing may be sent any more
	queue       fifo
	outstanding int
	slots       []outgoing // the unanswered deliveries, by sequence modulo their number
	answers     []byte     // to submits whose receipts were sent on other sessions
}

// An outgoing delivery is one that the peer has not answered. It is free while its
// sequence is 0.
type outgoing struct {
	sequence uint32
	delivery delivery
}

// start makes the mail of a session that has logged in.
func (m *mail) start(s *session, w wire) {
	m.session, m.wire = s, w
	m.wake, m.done = make(chan struct{}, 1), make(chan struct{})
	size := 16
	for size < 2*s.sink.o.Window && uint32(size) < w.maxSequence() {
		size *= 2
	}
	m.slots = make([]outgoing, size)
	m.running.Go(m.post)
}

// started reports whether the session delivers anything at all.
func (m *mail) started() bool { return m.session != nil }

// add adds a delivery. It reports false if the session is over.
func (m *mail) add(d *delivery) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.queue.push(d)
	return true
}

// addAnswer queues the answer to the submit that a delivery is for. The answer is lost if the
// session is over.
func (m *mail) addAnswer(d *delivery) {
	m.mu.Lock()
	if !m.closed {
		m.answers = m.appendAnswer(m.answers, d)
	}
	m.mu.Unlock()
	m.wakeUp()
}

// addOctets queues an answer for the postman. It is lost if the session is over.
func (m *mail) addOctets(answer []byte) {
	m.mu.Lock()
	if !m.closed {
		m.answers = append(m.answers, answer...)
	}
	m.mu.Unlock()
	m.wakeUp()
}

func (m *mail) appendAnswer(b []byte, d *delivery) []byte {
	to := submitted{destination: address{d.source.ton, d.source.npi, d.source.get()}}
	return m.wire.appendAccepted(b, d.answer.header, &to, d.answer.id)
}

// wakeUp makes the postman send what there is.
func (m *mail) wakeUp() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// post writes what other goroutines have added.
func (m *mail) post() {
	var out []byte
	for {
		select {
		case <-m.wake:
		case <-m.done:
			return
		}
		if out = m.send(out[:0], nil, nil); len(out) > 0 {
			if _, err := m.session.conn.Write(out); err != nil {
				m.session.conn.Close() // the session's goroutine ends the session
			}
		}
	}
}

// send adds deliveries, frees the slots of those that were answered, and appends to out
// what the window has room for.
func (m *mail) send(out []byte, fresh []delivery, answered []header) []byte {
	var elsewhere []delivery // deliveries whose submits other sessions have to answer
	var sent int64
	m.mu.Lock()
	for i := range fresh {
		m.queue.push(&fresh[i])
	}
	for _, h := range answered {
		m.answered(h)
	}
	out, m.answers = append(out, m.answers...), m.answers[:0]
	for !m.closed && m.outstanding < m.session.sink.o.Window {
		d, ok := m.next()
		if !ok {
			break
		}
		slot := m.slot()
		slot.delivery = d
		out = m.wire.appendDelivery(out, slot.sequence, &slot.delivery, &m.session.sink.o.Receipt)
		sent++
		if d.answer.header.sequence == 0 {
			continue
		}
		if d.origin == m.session {
			out = m.appendAnswer(out, &slot.delivery)
		} else {
			elsewhere = append(elsewhere, d)
		}
		slot.delivery.answer = answerTo{} // a receipt that is sent again has no answer behind it
	}
	m.mu.Unlock()
	for i := range elsewhere {
		elsewhere[i].origin.mail.addAnswer(&elsewhere[i])
	}
	if sent > 0 {
		m.session.sink.counts.delivered.Add(sent)
	}
	return out
}

// next takes the next delivery that the session may send.
func (m *mail) next() (delivery, bool) {
	if d, ok := m.queue.pop(); ok {
		return d, true
	}
	if !m.session.bound().CanReceive() {
		return delivery{}, false
	}
	return m.session.sink.takeWaiting(m.session)
}

// slot returns a free slot, with the sequence number of the delivery that it is for.
func (m *mail) slot() *outgoing {
	for {
		sequence := m.session.nextSequence()
		if slot := &m.slots[sequence%uint32(len(m.slots))]; slot.sequence == 0 {
			slot.sequence = sequence
			m.outstanding++
			return slot
		}
	}
}

// answered handles the peer's answer to a delivery.
func (m *mail) answered(h header) {
	slot := &m.slots[h.sequence%uint32(len(m.slots))]
	s := m.session.sink
	if h.sequence == 0 || slot.sequence != h.sequence {
		s.counts.unexpected.Add(1)
		return
	}
	slot.sequence = 0
	m.outstanding--
	switch d := &slot.delivery; {
	case h.status == 0:
		s.ended(d, true)
	case m.wire.isTemporary(h.status):
		s.counts.again.Add(1)
		s.later.add(deliverAgain<<d.refused, d.refusedAgain())
	default:
		s.ended(d, false)
	}
}

// hasRoom reports whether the window has room for another delivery.
func (m *mail) hasRoom() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.closed && m.outstanding < m.session.sink.o.Window
}

// pause ends the sending, because the session is about to end.
func (m *mail) pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}

// close ends the postman, and returns the deliveries for another session: those that were not
// answered, and those that wait.
func (m *mail) close() []delivery {
	m.mu.Lock()
	m.closed = true
	var rest []delivery
	for i := range m.slots {
		if m.slots[i].sequence != 0 {
			m.slots[i].sequence = 0
			rest = append(rest, m.slots[i].delivery)
			m.session.sink.counts.again.Add(1)
		}
	}
	for d, ok := m.queue.pop(); ok; d, ok = m.queue.pop() {
		rest = append(rest, d)
	}
	m.mu.Unlock()
	close(m.done)
	m.running.Wait()
	return rest
}

// A fifo is a queue of deliveries.
type fifo struct {
	first, length int
	ring          []delivery // as many as a power of two
}

func (f *fifo) push(d *delivery) {
	if f.length == len(f.ring) {
		ring := make([]delivery, max(16, 2*len(f.ring)))
		n := copy(ring, f.ring[f.first:])
		copy(ring[n:], f.ring[:f.first])
		f.ring, f.first = ring, 0
	}
	f.ring[(f.first+f.length)&(len(f.ring)-1)] = *d
	f.length++
}

func (f *fifo) pop() (d delivery, ok bool) {
	if f.length == 0 {
		return d, false
	}
	slot := &f.ring[f.first]
	d, slot.origin = *slot, nil
	f.first = (f.first + 1) & (len(f.ring) - 1)
	f.length--
	return d, true
}

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
