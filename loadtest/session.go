package loadtest

import (
	"net"
	"sync/atomic"
	"time"

	"pmg/protocols"
)

// A session is one connection of a sink. Its goroutine reads all that has arrived, handles
// every PDU and writes the answers together.
type session struct {
	sink    *Sink
	conn    net.Conn
	in      stream
	wire    wire
	message submitted     // the message being handled
	content *contentCheck // nil if it is not checked

	systemID string        // from its login on
	bind     atomic.Uint32 // BindType, 0 before login; also read by sessions that look for a receiver
	sequence atomic.Uint32 // of the sink's requests
	id       uint64        // of the last message

	out     []byte
	answers []byte // to submits; appended to out if there is no delay
	batch   sinkBatch
	delay   *delayed // writes answers; nil without a delay
	mail    mail     // started if the sink sends receipts or messages

	lateAnswers []byte   // answers that a fault delays more than the others
	lateDelay   *delayed // writes them; nil without that fault
	unbinding   bool     // a fault has sent an unbind
}

// A sinkBatch holds the counts of one batch of PDUs, which flush adds to the sink.
type sinkBatch struct {
	submits, accepted           int64
	throttled, refused, dropped int64
	unbinds, twice, late        int64
	malformed, unnumbered       int64
	changed                     int64
	receipts                    int64
	numbers                     []int64

	answered  []header   // the peer's answers to deliveries
	mail      []delivery // receipts that go over this session immediately
	elsewhere []delivery // receipts that other sessions may send
}

func newSession(s *Sink, conn net.Conn, number uint64) *session {
	conn = newRawConn(conn)
	w, _ := newWire(s.o.Protocol) // StartSink has checked the protocol
	// The upper bits of message ids are the session's number, so that ids differ between
	// sessions without a shared counter.
	one := &session{sink: s, conn: conn, in: newStream(conn, w), wire: w, id: number << 40}
	if s.o.Content != nil {
		one.content = newContentCheck(s.o.Content)
	}
	return one
}

func (s *session) serve() {
	defer s.sink.end(s)
	defer s.conn.Close()
	o := &s.sink.o
	if o.Delay > 0 {
		s.delay = newDelayed(s, o.Delay)
	}
	if o.LateEvery > 0 {
		s.lateDelay = newDelayed(s, o.Delay+o.Late)
	}
	more := true
	for more && s.in.fill() == nil {
		more = s.handle()
		if s.flush() != nil {
			break
		}
	}
	s.leave()
	for _, d := range []*delayed{s.delay, s.lateDelay} {
		if d != nil {
			d.finish()
		}
	}
	if !more {
		s.hangUp()
	}
}

// leave ends the deliveries of the session. Other sessions send what it has not delivered.
func (s *session) leave() {
	s.bind.Store(0)
	if !s.mail.started() {
		return
	}
	s.sink.removeReceiver(s)
	_ = s.conn.SetWriteDeadline(time.Now().Add(hangUpTime)) // the postman may be writing to a peer that does not read
	rest := s.mail.close()
	_ = s.conn.SetWriteDeadline(time.Time{})
	s.sink.dispatch(rest)
}

// bound returns the session's bind type, or 0 if it is not logged in.
func (s *session) bound() protocols.BindType { return protocols.BindType(s.bind.Load()) }

// unbind asks the peer to end the session, and ends it if that takes too long.
func (s *session) unbind() {
	logout := s.wire.appendLogout(nil, s.nextSequence())
	if s.bound() == 0 || len(logout) == 0 {
		s.conn.Close()
		return
	}
	s.pause()
	_ = s.conn.SetDeadline(time.Now().Add(hangUpTime))
	_, _ = s.conn.Write(logout)
}

func (s *session) nextSequence() uint32 { return (s.sequence.Add(1)-1)%s.wire.maxSequence() + 1 }

// hangUpTime is how long a peer may take to close a session that the sink has ended.
const hangUpTime = time.Second

// hangUp ends the connection so that the peer gets every answer. It reads until the peer
// closes, because closing a socket with unread bytes resets the connection and discards
// answers that the peer has not read yet.
func (s *session) hangUp() {
	if tcp, ok := s.conn.(interface{ CloseWrite() error }); ok && tcp.CloseWrite() == nil {
		_ = s.conn.SetReadDeadline(time.Now().Add(hangUpTime))
		for s.in.fill() == nil {
			s.in.start = s.in.end
		}
	}
}

// flush counts the batch and writes the answers.
func (s *session) flush() error {
	ends := s.batch.submits > 0 || len(s.batch.answered) > 0
	s.sink.add(&s.batch)
	if len(s.answers) > 0 {
		if s.delay == nil {
			s.out = append(s.out, s.answers...)
		} else {
			s.delay.add(s.answers)
		}
		s.answers = s.answers[:0]
	}
	if len(s.lateAnswers) > 0 {
		s.lateDelay.add(s.lateAnswers)
		s.lateAnswers = s.lateAnswers[:0]
	}
	if s.mail.started() {
		s.out = s.mail.send(s.out, s.batch.mail, s.batch.answered)
		s.batch.mail, s.batch.answered = s.batch.mail[:0], s.batch.answered[:0]
	}
	var err error
	if len(s.out) > 0 {
		_, err = s.conn.Write(s.out)
		s.out = s.out[:0]
	}
	if len(s.batch.elsewhere) > 0 {
		s.sink.dispatch(s.batch.elsewhere)
		s.batch.elsewhere = s.batch.elsewhere[:0]
	}
	if ends && s.delay == nil {
		s.sink.answered()
	}
	return err
}

// handle handles every whole PDU that was read. It returns false when one of them ends
// the session.
func (s *session) handle() bool {
	for {
		b, err := s.in.next()
		if err != nil {
			s.batch.malformed++
			s.out = s.wire.appendUnreadable(s.out)
			return false
		}
		if b == nil {
			return true
		}
		switch h := s.wire.header(b); h.kind {
		case loginKind:
			if !s.login(h, b) {
				return false
			}
		case submitKind:
			if !s.submit(h, b) {
				return false
			}
		case deliverAnswer:
			s.batch.answered = append(s.batch.answered, h)
		case keepAlive:
			s.out = s.wire.appendKeepAliveAnswer(s.out, h)
		case logout:
			s.out = s.wire.appendLogoutAnswer(s.out, h)
			s.pause()
			return false
		case logoutAnswer:
			return false
		case unknownRequest:
			s.out = s.wire.appendNotUnderstood(s.out, h)
		}
	}
}

// pause ends the deliveries, because the session is about to end.
func (s *session) pause() {
	if s.mail.started() {
		s.mail.pause()
	}
}

// login answers a login. It returns false if the session ends.
func (s *session) login(h header, b []byte) bool {
	o := &s.sink.o
	l, err := s.wire.login(b)
	refused := s.bound() != 0
	status := s.wire.status(refuseSecondLogin)
	if !refused {
		refused = err != nil || o.SystemID != "" && l.SystemID != o.SystemID || o.Password != "" && l.Password != o.Password
		status = s.wire.status(refuseLogin)
	}
	if refused {
		s.sink.counts.bindsRefused.Add(1)
		s.out = s.wire.appendLoginAnswer(s.out, h, status)
		s.pause()
		return false
	}
	closes := every(s.sink.counts.binds.Add(1), o.CloseBindEvery)
	s.out = s.wire.appendLoginAnswer(s.out, h, 0)
	if closes {
		s.sink.counts.bindsClosed.Add(1)
		return false
	}
	s.systemID = l.SystemID
	if o.delivers() {
		w, _ := newWire(o.Protocol)
		s.mail.start(s, w)
	}
	s.bind.Store(uint32(l.bind))
	if o.delivers() && l.bind.CanReceive() {
		if _, err := s.conn.Write(s.out); err != nil { // before the first delivery
			return false
		}
		s.out = s.out[:0]
		s.sink.addReceiver(s)
	}
	return true
}

// submit accepts, refuses or ignores a message, as the options say. It returns false if
// the connection must be closed.
func (s *session) submit(h header, b []byte) bool {
	o := &s.sink.o
	if !s.bound().CanSubmit() {
		s.out = s.wire.appendRefused(s.out, h, s.wire.status(refuseNotBound))
		return true
	}
	s.batch.submits++
	nth := s.nth()
	if every(nth, o.UnbindEvery) && !s.unbinding {
		s.unbinding = true
		s.batch.unbinds++
		s.out = s.wire.appendLogout(s.out, s.nextSequence()) // before the answers of this batch
		s.pause()
	}
	switch {
	case o.Mute:
	case every(nth, o.DropEvery):
		s.batch.dropped++
		return false
	case every(nth, o.ThrottleEvery):
		s.refuse(s.wire.status(refuseThrottled), h)
	case every(nth, o.RefuseEvery):
		s.refuse(s.wire.status(refuseSubmit), h)
	case s.wire.submit(b, &s.message) != nil:
		s.batch.malformed++
		s.answers = s.wire.appendRefused(s.answers, h, s.wire.status(refuseMalformed))
	default:
		f := o.actionFor(&s.message)
		switch {
		case f.close:
			s.batch.dropped++
			return false
		case f.refused:
			s.refuse(s.wire.status(f.refusal), h)
		default:
			s.obey(h, nth)
		}
	}
	return true
}

// obey accepts or refuses the message being handled, as its text orders.
func (s *session) obey(h header, nth int64) {
	var ordered Orders
	if s.sink.o.Orders {
		var err error
		if ordered, err = ParseOrders(s.message.text); err != nil {
			s.batch.malformed++
		}
	}
	switch {
	case ordered.NoAnswer:
	case ordered.Status == 0:
		s.accept(h, nth, &ordered)
	case ordered.Delay > 0:
		s.batch.refused++
		s.answerAfter(ordered.Delay, s.wire.appendRefused(nil, h, ordered.Status))
	default:
		s.refuse(ordered.Status, h)
	}
}

// refuse answers a submit with a status other than 0.
func (s *session) refuse(status uint32, h header) {
	if s.wire.isThrottled(status) {
		s.batch.throttled++
	} else {
		s.batch.refused++
	}
	s.answers = s.wire.appendRefused(s.answers, h, status)
}

// nth returns the number of a submit among those of all sessions, or 0 if no fault needs
// it.
func (s *session) nth() int64 {
	if !s.sink.o.counts() {
		return 0
	}
	return s.sink.counts.nth.Add(1)
}

// accept accepts the message being handled, which is the nth submit.
func (s *session) accept(h header, nth int64, ordered *Orders) {
	s.batch.accepted++
	m := &s.message
	if number, ok := ParseNumber(m.text); ok {
		s.batch.numbers = append(s.batch.numbers, number)
		if s.content != nil && !s.content.matches(m, number) {
			s.batch.changed++
		}
	} else {
		s.batch.unnumbered++
	}
	o := &s.sink.o
	id := messageID{s.nextID(), o.Receipt.answerForm()}
	late, twice := every(nth, o.LateEvery), every(nth, o.TwiceEvery)
	if s.receipt(h, id, o.Receipt.First && !late && !twice && ordered.Delay == 0, ordered) {
		return // the submit is answered after its receipt
	}
	if ordered.Delay > 0 {
		s.answerAfter(ordered.Delay, s.wire.appendAccepted(nil, h, m, id))
		return
	}
	to := &s.answers
	if late {
		s.batch.late++
		to = &s.lateAnswers
	}
	*to = s.wire.appendAccepted(*to, h, m, id)
	if twice {
		s.batch.twice++
		*to = s.wire.appendAccepted(*to, h, m, id)
	}
}

// nextID returns the id of the next message. If ids are times, the sessions share a clock
// that advances by a second for each message, so that no two have the same.
func (s *session) nextID() uint64 {
	if s.wire.idsAreTimes() {
		return uint64(s.sink.began.Unix() + s.sink.counts.ids.Add(1))
	}
	s.id++
	return s.id
}

// receipt sends the receipt for the current message, if it has asked for one. It reports whether
// the message is answered after it.
func (s *session) receipt(h header, id messageID, first bool, ordered *Orders) (answersLater bool) {
	o, m := &s.sink.o, &s.message
	if !o.Receipts || !m.wantsSuccess && !m.wantsFailure || ordered.NoReceipt {
		return false
	}
	d := delivery{id: id.id, state: stateDelivered, err: [3]byte{'0', '0', '0'}, submitted: time.Now().UTC(), origin: s}
	if o.Receipt.Fails() {
		d.state, d.err = stateUndeliverable, [3]byte{'1', '0', '8'} // delivery failure, in UCP too
	}
	if ordered.state != 0 {
		d.state, d.err = ordered.state, ordered.err
	}
	if d.state == stateDelivered && !m.wantsSuccess || d.state != stateDelivered && !m.wantsFailure {
		return false
	}
	s.batch.receipts++
	d.source.set(m.destination)
	d.destination.set(m.source)
	d.textLen = uint8(copy(d.text[:], m.text))
	if first {
		d.answer = answerTo{h, id}
	}
	switch after := o.Delay + ordered.Delay + max(o.Receipt.Wait(), ordered.After); {
	case after > 0:
		s.sink.later.add(after, &d)
	case o.Receipt.OtherSession || !s.bound().CanReceive():
		s.batch.elsewhere = append(s.batch.elsewhere, d)
	default:
		s.batch.mail = append(s.batch.mail, d)
	}
	return first
}
