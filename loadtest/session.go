package loadtest

import (
	"net"
	"sync/atomic"
	"time"

	"pmg/protocols"
	"pmg/protocols/smpp"
)

// A session is one connection of a sink. Its goroutine reads all that has arrived, handles
// every PDU and writes the answers together.
type session struct {
	sink *Sink
	conn net.Conn
	in   stream
	pdu  smpp.PDU // the PDU being decoded

	bind     atomic.Uint32 // BindType, 0 before login; also read by sessions that look for a receiver
	sequence atomic.Uint32 // of the sink's requests
	id       uint64        // of the last message

	out     []byte
	answers []byte // to submits, and receipts; appended to out if there is no delay
	batch   sinkBatch
	delay   *delayed // writes answers; nil without a delay

	lateAnswers []byte   // answers that a fault delays more than the others
	lateDelay   *delayed // writes them; nil without that fault
	unbinding   bool     // a fault has sent an unbind

	receiptVia  *session // the session for receipts if this one may not receive, for one batch
	receiptsOut []byte   // the receipts for it
	receipt     receipt
}

// A sinkBatch holds the counts of one batch of PDUs, which flush adds to the sink.
type sinkBatch struct {
	submits, accepted           int64
	throttled, refused, dropped int64
	unbinds, twice, late        int64
	malformed, unnumbered       int64
	receipts, receiptsAnswered  int64
	numbers                     []int64
}

func newSession(s *Sink, conn net.Conn, number uint64) *session {
	conn = newRawConn(conn)
	// The upper bits of message ids are the session's number, so that ids differ between
	// sessions without a shared counter.
	return &session{sink: s, conn: conn, in: newStream(conn), id: number << 40}
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
	s.bind.Store(0)
	for _, d := range []*delayed{s.delay, s.lateDelay} {
		if d != nil {
			d.finish()
		}
	}
	if !more {
		s.hangUp()
	}
}

// bound returns the session's bind type, or 0 if it is not logged in.
func (s *session) bound() protocols.BindType { return protocols.BindType(s.bind.Load()) }

// unbind asks the peer to end the session, and ends it if that takes too long.
func (s *session) unbind() {
	if s.bound() == 0 {
		s.conn.Close()
		return
	}
	_ = s.conn.SetDeadline(time.Now().Add(hangUpTime))
	_, _ = s.conn.Write(appendHeader(nil, smpp.Unbind, smpp.StatusOK, s.nextSequence()))
}

func (s *session) nextSequence() uint32 { return (s.sequence.Add(1)-1)%smpp.MaxSequence + 1 }

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
	submits := s.batch.submits > 0
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
	if s.receiptVia != nil {
		_, _ = s.receiptVia.conn.Write(s.receiptsOut) // that session handles its own errors
		s.receiptVia, s.receiptsOut = nil, s.receiptsOut[:0]
	}
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.conn.Write(s.out)
	s.out = s.out[:0]
	if submits && s.delay == nil {
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
			s.out = appendHeader(s.out, smpp.GenericNack, smpp.StatusInvCmdLen, 0)
			return false
		}
		if b == nil {
			return true
		}
		h := headerOf(b)
		switch {
		case h.command.IsBind():
			if !s.login(h, b) {
				return false
			}
		case h.command == smpp.SubmitSM:
			if !s.submit(h, b) {
				return false
			}
		case h.command == smpp.DeliverSMResp:
			s.batch.receiptsAnswered++
		case h.command == smpp.EnquireLink:
			s.out = appendHeader(s.out, smpp.EnquireLinkResp, smpp.StatusOK, h.sequence)
		case h.command == smpp.Unbind:
			s.out = appendHeader(s.out, smpp.UnbindResp, smpp.StatusOK, h.sequence)
			return false
		case h.command == smpp.UnbindResp:
			return false
		case !h.command.IsResponse():
			s.out = appendHeader(s.out, smpp.GenericNack, smpp.StatusInvCmdID, h.sequence)
		}
	}
}

// login answers a bind. It returns false if the session ends.
func (s *session) login(h header, b []byte) bool {
	o := &s.sink.o
	answer := smpp.PDU{ID: h.command | smpp.Response, SequenceNumber: h.sequence}
	switch err := s.pdu.Decode(b); {
	case s.bound() != 0:
		answer.CommandStatus = smpp.StatusAlyBnd
	case err != nil,
		o.SystemID != "" && string(s.pdu.Bind().SystemID) != o.SystemID,
		o.Password != "" && string(s.pdu.Bind().Password) != o.Password:
		answer.CommandStatus = smpp.StatusBindFail
	}
	if answer.CommandStatus != smpp.StatusOK {
		s.sink.counts.bindsRefused.Add(1)
		s.out = answer.AppendWire(s.out)
		return false
	}
	s.bind.Store(uint32(bindType(h.command)))
	closes := every(s.sink.counts.binds.Add(1), o.CloseBindEvery)
	answer.Body = true
	answer.BindResp().SystemID = []byte("pmg-sink")
	answer.BindResp().TLVs = smpp.AppendTLV(nil, smpp.TagVersion, []byte{smpp.Version34})
	s.out = answer.AppendWire(s.out)
	if closes {
		s.sink.counts.bindsClosed.Add(1)
	}
	return !closes
}

// submit accepts, refuses or ignores a message, as the options say. It returns false if
// the connection is to be closed.
func (s *session) submit(h header, b []byte) bool {
	o := &s.sink.o
	if !s.bound().CanSubmit() {
		s.out = appendHeader(s.out, smpp.SubmitSMResp, smpp.StatusInvBndSts, h.sequence)
		return true
	}
	s.batch.submits++
	nth := s.nth()
	if every(nth, o.UnbindEvery) && !s.unbinding {
		s.unbinding = true
		s.batch.unbinds++
		s.out = appendHeader(s.out, smpp.Unbind, smpp.StatusOK, s.nextSequence()) // before the answers of this batch
	}
	switch {
	case o.Mute:
	case every(nth, o.DropEvery):
		s.batch.dropped++
		return false
	case every(nth, o.ThrottleEvery):
		s.refuse(smpp.StatusThrottled, h.sequence)
	case every(nth, o.RefuseEvery):
		s.refuse(statusSubmitFail, h.sequence)
	case s.pdu.Decode(b) != nil:
		s.batch.malformed++
		s.answers = appendHeader(s.answers, smpp.SubmitSMResp, smpp.StatusInvCmdLen, h.sequence)
	default:
		f := o.actionFor(&s.pdu.SM)
		switch {
		case f.close:
			s.batch.dropped++
			return false
		case f.status != smpp.StatusOK:
			s.refuse(f.status, h.sequence)
		default:
			s.accept(h.sequence, nth)
		}
	}
	return true
}

// refuse answers a submit with a status other than 0.
func (s *session) refuse(status, sequence uint32) {
	if status == smpp.StatusThrottled || status == smpp.StatusMsgQFul {
		s.batch.throttled++
	} else {
		s.batch.refused++
	}
	s.answers = appendHeader(s.answers, smpp.SubmitSMResp, status, sequence)
}

// nth returns the number of a submit among those of all sessions, or 0 if no fault needs
// it.
func (s *session) nth() int64 {
	if !s.sink.o.counts() {
		return 0
	}
	return s.sink.counts.nth.Add(1)
}

// accept accepts the message in s.pdu, which is the nth submit.
func (s *session) accept(sequence uint32, nth int64) {
	s.batch.accepted++
	m := &s.pdu.SM
	if number, ok := parseNumber(userText(m)); ok {
		s.batch.numbers = append(s.batch.numbers, number)
	} else {
		s.batch.unnumbered++
	}
	s.id++
	o := &s.sink.o
	to := &s.answers
	if every(nth, o.LateEvery) {
		s.batch.late++
		to = &s.lateAnswers
	}
	*to = appendSubmitSMResp(*to, sequence, s.id)
	if every(nth, o.TwiceEvery) {
		s.batch.twice++
		*to = appendSubmitSMResp(*to, sequence, s.id)
	}
	if o.Receipts && m.RegisteredDelivery&1 != 0 {
		s.sendReceipt()
	}
}

// userText returns the text of a message without its user data header.
func userText(m *smpp.SM) []byte {
	text := m.ShortMessage
	if len(text) == 0 {
		text, _ = smpp.FindTLV(m.TLVs, smpp.TagPayload)
	}
	if m.ESMClass&smpp.ClassHeader != 0 && len(text) > 0 {
		text = text[min(1+int(text[0]), len(text)):]
	}
	return text
}

// sendReceipt sends the receipt for the message in s.pdu, on another session if
// this one may not receive; if none may, it is not sent.
func (s *session) sendReceipt() {
	to, out := s, &s.answers
	if !s.bound().CanReceive() {
		if s.receiptVia == nil {
			s.receiptVia = s.sink.receiver()
		}
		to, out = s.receiptVia, &s.receiptsOut
	}
	if to == nil {
		return
	}
	s.batch.receipts++
	*out = s.receipt.append(*out, to.nextSequence(), s.id, &s.pdu.SM)
}
