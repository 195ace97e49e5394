package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
)

// A station is a client, or an SMSC.
type station struct {
	w      *world
	name   string // of its account, or of its connector
	client bool
	left   int // messages that it is to submit
	down   bool
	mood   float64 // how much more faulty an SMSC is at the moment
	peers  []*peer

	smsc     *smsc // nil: of a client
	receives bool  // by its sessions it can get messages, or can send them
	together int   // the reference of the last long message that it has cut itself
}

// A peer is a session of a station.
type peer struct {
	station *station
	end     *end
	session protocols.Session
	rest    []byte
	bound   bool
	leaving bool
	asked   map[uint32]*text // submits that wait for their answer
	reports map[uint32]*report
	changes map[uint32]*change
	raw     []byte // of the PDU at hand
}

const peerWindow = 10

var driver = smpp.New(smpp.Options{})

func (w *world) station(name string) *station {
	for _, s := range w.stations {
		if s.name == name {
			return s
		}
	}
	panic("no station " + name)
}

// open begins a session.
func (s *station) open(e *end) *peer {
	p := &peer{station: s, end: e, asked: map[uint32]*text{}, reports: map[uint32]*report{}, changes: map[uint32]*change{}}
	o := protocols.SessionOptions{Role: protocols.Server, Name: s.name, Options: smpp.NewConnectorOptions()}
	if s.client {
		o = protocols.SessionOptions{Role: protocols.Client, SystemID: s.name, Password: "secret", Options: smpp.NewConnectorOptions()}
	}
	p.session = driver.NewSession(o)
	s.peers = append(s.peers, p)
	e.receive, e.gone = p.receive, p.over
	return p
}

// accept takes a connection of the node.
func (s *station) accept(e *end) bool {
	if s.down {
		return false
	}
	p := s.open(e)
	p.session.Start(s.w.now(), nil)
	return true
}

func (p *peer) over() {
	p.end.close()
	p.bound = false
	p.lost()
	p.station.peers = slices.DeleteFunc(p.station.peers, func(other *peer) bool { return other == p })
}

// hangUp ends the session without a logout.
func (p *peer) hangUp() {
	if p.station.w.chance(0.5) {
		p.end.reset()
	}
	p.over()
}

func (p *peer) receive(b []byte) {
	p.rest = append(p.rest, b...)
	for len(p.rest) > 0 && !p.end.closed {
		n, err := driver.Frame(p.rest)
		if err != nil {
			p.station.w.fail("%s: cannot frame what the node sends: %v", p.station.name, err)
			return
		}
		if n > len(p.rest) {
			return
		}
		pdu := driver.NewPDU()
		p.raw = slices.Clone(p.rest[:n])
		if err := driver.Decode(pdu, slices.Clone(p.raw)); err != nil {
			p.station.w.fail("%s: cannot decode what the node sends: %v", p.station.name, err)
		}
		p.rest = p.rest[n:]
		p.do(pdu, p.session.Receive(p.station.w.now(), pdu))
	}
}

// do does what the session asks for.
func (p *peer) do(pdu protocols.PDU, a protocols.Action) {
	w := p.station.w
	switch a.Kind {
	case protocols.Send, protocols.Logout:
		p.end.write(pdu.AppendWire(nil))
	case protocols.SendClose:
		p.end.write(pdu.AppendWire(nil))
		p.over()
	case protocols.Close:
		p.over()
	case protocols.Login:
		code := sms.OK
		if w.fault(0.1) {
			code = sms.BindFailed
		}
		p.do(pdu, p.session.Login(w.now(), pdu, code))
		p.bound = p.session.Bound() != 0
	case protocols.Bound:
		p.bound = true
	case protocols.Drain:
		p.do(pdu, p.session.Idle(w.now(), pdu))
	case protocols.Message:
		p.message(pdu)
	case protocols.Operate:
		protocols.AbilitiesOf(p.session).Operations.AnswerOperation(pdu, sms.Rejected, nil)
		b := pdu.AppendWire(nil)
		w.after(w.between(0, 30*time.Millisecond), func() { p.end.write(b) })
	case protocols.Answered:
		p.answered(a)
	}
}

func (p *peer) answered(a protocols.Action) {
	o := &p.station.w.oracle
	if t := p.asked[a.Sequence]; t != nil {
		delete(p.asked, a.Sequence)
		if a.Code == sms.OK && t.from.client {
			o.know(idOf(p.raw), t)
		}
		o.confirmed(t, a.Code)
	}
	if r := p.reports[a.Sequence]; r != nil {
		delete(p.reports, a.Sequence)
		r.smsc.answered(r, a.Code == sms.OK)
	}
	if c := p.changes[a.Sequence]; c != nil {
		delete(p.changes, a.Sequence)
		o.changed(c, a.Code)
	}
}

// message answers a message of the node.
func (p *peer) message(pdu protocols.PDU) {
	w, s := p.station.w, p.station
	var m sms.Message
	code := p.session.Message(w.now()+int64(w.step), pdu, &m)
	if code != sms.OK && code != sms.BadValidity { // the node notices a step of the clock a little later
		w.fail("%s: the node sends a message that is %s", s.name, code)
		return
	}
	if s.client {
		d, err := readDelivery(p.raw)
		if err != nil {
			w.fail("%s: cannot read %x: %v", s.name, p.raw, err)
		}
		if d.isReceipt() {
			w.oracle.receipt(s, d)
			p.answer(pdu, nil, nil)
			return
		}
	}
	texts := w.oracle.texts(m.Text(), partOf(pdu, &m))
	if len(texts) == 0 {
		w.fail("%s: the node sends a message that no peer has submitted: %q", s.name, m.Text())
		return
	}
	p.answer(pdu, texts, &m)
}

// answer answers a message of texts, a receipt if there are none.
func (p *peer) answer(pdu protocols.PDU, texts []*text, m *sms.Message) {
	w, s := p.station.w, p.station
	code := sms.OK
	delay := w.between(100*time.Microsecond, 30*time.Millisecond)
	times := 1
	if w.fault(w.plan.faulty + s.mood) {
		switch w.rng.IntN(12) {
		case 0:
			times = 0
		case 1:
			times = 2
		case 2, 3:
			delay = w.between(time.Second, 15*time.Second)
		case 4:
			p.hangUp()
			return
		case 5:
			w.after(delay, p.hangUp)
		case 6:
			w.after(delay, p.unbind)
		case 7, 8:
			code = sms.Throttled
		case 9:
			code = sms.QueueFull
		case 10:
			code = sms.SystemError
		case 11:
			if w.chance(0.3) {
				code = sms.Rejected
			}
		}
	}
	for _, t := range texts {
		if t.must != "" && t.may == 0 && !strings.Contains(string(m.Text()), ";"+t.must+";") {
			w.fail("%s is sent as it was before it was replaced: %q", t.key, m.Text())
		}
		w.note("%s: has %s, answer %s in %s, %d times", s.name, t.name(), code, delay, times)
		w.oracle.taken(t, code)
	}
	registered, sequence := pdu.(*smpp.PDU).SM.RegisteredDelivery, pdu.Sequence()
	p.session.Answer(pdu, code, uint64(w.count))
	b := pdu.AppendWire(nil)
	if code == sms.OK && !s.client {
		one := s.smsc.accept(texts, string(m.Source().Addr), string(m.Dest().Addr), registered, delay)
		w.note("%s: accepts it as %s", s.name, one.id)
		b = wire(submitAnswer, sequence, cString(one.id))
	}
	for range times {
		w.after(delay, func() { p.end.write(b) })
	}
}

// partOf returns which part of a long message an SMSC is sent, 0 if it is none.
func partOf(pdu protocols.PDU, m *sms.Message) int {
	if text := m.Text(); m.Flags&sms.HasHeader != 0 && len(text) > 6 {
		return int(text[text[0]]) // the last octet of a header that has nothing else
	}
	number, _ := smpp.FindTLV(pdu.(*smpp.PDU).SM.TLVs, 0x020F)
	if len(number) == 1 {
		return int(number[0])
	}
	return 0
}

// unbind logs out.
func (p *peer) unbind() {
	if p.end.closed || p.leaving {
		return
	}
	p.leaving = true
	pdu := driver.NewPDU()
	p.do(pdu, p.session.Unbind(p.station.w.now(), pdu))
}

// work does something that a client, or an SMSC, does now and then.
func (s *station) work() {
	w := s.w
	w.after(w.between(20*time.Millisecond, 600*time.Millisecond), s.work)
	if s.client {
		if w.fault(w.plan.away) {
			s.leave()
		}
		if !s.down && (len(s.peers) == 0 || len(s.peers) < 2 && w.chance(0.05)) {
			s.dial()
		}
	} else if w.fault(0.03) {
		s.moody()
	}
	for _, p := range slices.Clone(s.peers) {
		if !p.bound || p.leaving || !s.client && !p.session.Bound().CanReceive() {
			continue
		}
		if s.client && w.fault(w.plan.rude) {
			p.misbehave()
			continue
		}
		if s.client && w.fault(w.plan.changes) && p.session.Accepting() {
			p.change()
		}
		for n := w.rng.IntN(6); n > 0 && s.left > 0 && len(p.asked) < peerWindow && p.session.Accepting(); n-- {
			s.left--
			p.submit()
		}
	}
}

// leave disconnects a client for a while.
func (s *station) leave() {
	s.w.note("%s: goes away", s.name)
	s.down = true
	for _, p := range slices.Clone(s.peers) {
		p.hangUp()
	}
	s.w.after(s.w.between(time.Second, 30*time.Second), func() { s.down = false })
}

// moody changes how an SMSC behaves for a while.
func (s *station) moody() {
	w := s.w
	s.down, s.mood = false, 0
	switch w.rng.IntN(4) {
	case 0:
		s.down = true
		for _, p := range slices.Clone(s.peers) {
			p.hangUp()
		}
	case 1:
		s.mood = 0.7
	}
	w.note("%s: down %t, mood %.1f", s.name, s.down, s.mood)
}

func (s *station) dial() {
	if s.w.node == nil {
		return
	}
	ours, theirs := s.w.connect()
	p := s.open(ours)
	if !s.w.node.accept(theirs) {
		theirs.closed = true
		p.over()
		return
	}
	pdu := driver.NewPDU()
	p.do(pdu, p.session.Start(s.w.now(), pdu))
}

func (p *peer) misbehave() {
	switch w := p.station.w; w.rng.IntN(3) {
	case 0:
		w.note("%s: hangs up", p.station.name)
		p.hangUp()
	case 1:
		w.note("%s: unbinds", p.station.name)
		p.unbind()
	default:
		w.note("%s: hangs up in the midst of a PDU", p.station.name)
		b := p.encode(w.oracle.newTexts(p.station)[0])
		p.end.write(b[:1+w.rng.IntN(len(b)-1)])
		p.hangUp()
	}
}

// submit sends the node a message.
func (p *peer) submit() {
	w := p.station.w
	for _, t := range w.oracle.newTexts(p.station) {
		w.note("%s: submits %s", p.station.name, t)
		p.end.write(p.encode(t))
	}
}

func (p *peer) encode(t *text) []byte {
	w := p.station.w
	var m sms.Message
	m.Set(sms.Address{Addr: []byte(sender)}, sms.Address{Addr: []byte(t.dest)}, []byte(t.header+t.body()))
	m.Priority = t.priority
	if t.header != "" {
		m.Flags |= sms.HasHeader
	}
	if !p.station.client {
		m.Kind = sms.MO
	}
	wall := w.now() + int64(w.step)
	if t.validity > 0 {
		m.Expires = wall + int64(t.validity)
	}
	pdu, n := driver.NewPDU(), p.session.NextSequence()
	p.session.Encode(wall, pdu, &m, n)
	sm := &pdu.(*smpp.PDU).SM
	sm.RegisteredDelivery = t.registered
	if t.delay > 0 {
		sm.ScheduleDeliveryTime = fmt.Appendf(nil, "00000000%02d%02d000R", t.delay/time.Minute, t.delay%time.Minute/time.Second)
	}
	p.asked[n] = t
	return pdu.AppendWire(nil)
}

func (t *text) String() string {
	return fmt.Sprintf("%s to %s, priority %d, in %s, valid %s, registered %#x", t.key, t.dest, t.priority, t.delay, t.validity, t.registered)
}
