package store

import "pmg/sms"

// The record of a message is its head and then its body; the state is a record of its own.
// The lists of their fields are in the walks below. A later version of either may only be
// written with a higher version octet.
const (
	recordVersion   = 2
	recordSubmitted = 3 // with what the client has submitted
	recordTagged    = 4 // and with tags
	recordNetwork   = 5 // and with a network, and perhaps the others
	recordPriced    = 6 // and with a price, and perhaps the others
	recordLast      = recordPriced
	stateVersion    = 3
)

// maxReason is the longest reason that is stored, in octets.
const maxReason = 1000

// storedFlags are the flags that say something of the message itself. The others are
// about the queue that it is in.
const storedFlags = sms.HasHeader | sms.ReplyPath | sms.RelativeValidity | sms.HasReport | sms.Converted

// A Head is what can be read of a record without the message: all that is needed to
// give the message its place in a queue.
//
// Its names lie in the record.
type Head struct {
	Account, Connector         []byte // the origin of the message
	LaneConnector, LaneAccount []byte // the lane that it was accepted for; one of them is empty

	Arrived, DeliverAt, Expires int64 // by the wall clock; 0: not set
	Priority                    uint8
	Kind                        sms.Kind
	Price                       sms.Money // reserved for it; 0: nothing
}

// walk leads w along the fields of a head.
func (h *Head) walk(w *walk) {
	w.enum("kind", (*uint8)(&h.Kind), uint8(sms.Receipt))
	w.u8("priority", &h.Priority)
	w.time("time of arrival", &h.Arrived)
	w.time("delivery time", &h.DeliverAt)
	w.time("expiry", &h.Expires)
	w.octets16("account", &h.Account)
	w.octets16("connector", &h.Connector)
	w.octets16("lane's connector", &h.LaneConnector)
	w.octets16("lane's account", &h.LaneAccount)
	if w.atLeast(recordPriced) {
		w.money("price", &h.Price)
	}
}

// A body is what a record has of the message behind its head.
type body struct {
	source, dest         sms.Address
	text, native         []byte
	protocol             uint8
	pid, alphabet, class uint8
	notify, flags        uint8
	offset               uint16
	part, parts          uint8
	submitted, tags      []byte
	network              uint32
}

// walk leads w along the fields of a body.
func (b *body) walk(w *walk) {
	w.enum("protocol", &b.protocol, uint8(sms.LastProtocol))
	w.u8("protocol identifier", &b.pid)
	w.enum("alphabet", &b.alphabet, uint8(sms.LastAlphabet))
	w.enum("class", &b.class, uint8(sms.Class3))
	w.u8("notifications", &b.notify)
	w.u8("flags", &b.flags)
	if w.atLeast(2) {
		w.u16("offset of the id", &b.offset)
		w.u8("part", &b.part)
		w.u8("parts", &b.parts)
	}
	w.u8("source's type", &b.source.TON)
	w.u8("source's plan", &b.source.NPI)
	w.octets8("source", &b.source.Addr)
	w.u8("destination's type", &b.dest.TON)
	w.u8("destination's plan", &b.dest.NPI)
	w.octets8("destination", &b.dest.Addr)
	w.octets32("text", &b.text)
	w.octets32("native part", &b.native)
	if w.atLeast(recordSubmitted) {
		w.octets16("what the client has submitted", &b.submitted)
	}
	if w.atLeast(recordTagged) {
		w.octets16("tags", &b.tags)
	}
	if w.atLeast(recordNetwork) {
		w.network(&b.network, w.atLeast(recordPriced))
	}
}

// walkMessage leads a writing or measuring w along the record of a message.
func walkMessage(w *walk, m *sms.Message, lane Lane) {
	h := Head{
		LaneConnector: octetsOf(lane.Connector), LaneAccount: octetsOf(lane.Account),
		Arrived: m.Arrived, DeliverAt: m.DeliverAt, Expires: m.Expires,
		Priority: m.Priority, Kind: m.Kind, Price: sms.PriceOf(m),
	}
	if o := m.Origin; o != nil {
		h.Account, h.Connector = octetsOf(o.Account), octetsOf(o.Connector)
	}
	protocol, native := m.NativePart()
	b := body{
		source: m.Source(), dest: m.Dest(), text: m.Text(), native: native,
		protocol: uint8(protocol), pid: m.PID, alphabet: uint8(m.Alphabet), class: uint8(m.Class),
		notify: uint8(m.Notify), flags: uint8(m.Flags & storedFlags),
		offset: m.Offset, part: m.Part, parts: m.Parts, submitted: m.SubmittedOctets(), tags: m.Tags(),
		network: uint32(m.Network),
	}
	version := uint8(recordVersion)
	switch {
	case h.Price != 0:
		version = recordPriced
	case b.network != 0:
		version = recordNetwork
	case len(b.tags) > 0:
		version = recordTagged
	case len(b.submitted) > 0:
		version = recordSubmitted
	}
	w.begin(version)
	h.walk(w)
	b.walk(w)
}

// AppendRecord appends the record of a message that was accepted for a lane. ahead is how
// many nanoseconds the wall clock is ahead of the clock that the message's times are by.
func AppendRecord(b []byte, m *sms.Message, lane Lane, ahead int64) []byte {
	w := walk{mode: writing, b: b, ahead: ahead}
	walkMessage(&w, m, lane)
	return w.b
}

// RecordSize returns how many octets AppendRecord appends.
func RecordSize(m *sms.Message, lane Lane) int {
	w := walk{mode: measuring}
	walkMessage(&w, m, lane)
	return w.n
}

// DecodeHead reads the head of a record, and nothing behind it.
func DecodeHead(record []byte) (Head, error) {
	w := walk{b: record}
	var h Head
	if err := w.version("message", recordLast); err != nil {
		return Head{}, err
	}
	h.walk(&w)
	if err := w.err("message"); err != nil {
		return Head{}, err
	}
	return h, nil
}

// Decode reads a record into an empty message, all but its ID and its Origin. Times are by the
// clock that the wall clock is ahead of.
func Decode(record []byte, m *sms.Message, ahead int64) error {
	w := walk{b: record, ahead: ahead}
	if err := w.version("message", recordLast); err != nil {
		return err
	}
	var h Head
	var b body
	h.walk(&w)
	b.walk(&w)
	if sms.Flags(b.flags)&^storedFlags != 0 {
		w.fail("flags", true)
	}
	if record[0] == recordSubmitted && len(b.submitted) == 0 {
		w.fail("what the client has submitted", true)
	}
	if record[0] == recordTagged && len(b.tags) == 0 || len(b.tags) > sms.MaxAllTags {
		w.fail("tags", true)
	}
	if err := w.end("message"); err != nil {
		return err
	}
	m.Set(b.source, b.dest, b.text)
	m.SetNative(sms.Protocol(b.protocol), b.native)
	m.SetSubmittedOctets(b.submitted)
	m.SetTags(b.tags)
	m.Arrived, m.DeliverAt, m.Expires = h.Arrived, h.DeliverAt, h.Expires
	m.Priority, m.Kind = h.Priority, h.Kind
	sms.SetPrice(m, h.Price)
	m.PID, m.Alphabet, m.Class = b.pid, sms.Alphabet(b.alphabet), sms.Class(b.class)
	m.Notify, m.Flags = sms.Notify(b.notify), sms.Flags(b.flags)
	m.Offset, m.Part, m.Parts, m.Network = b.offset, b.part, b.parts, sms.Network(b.network)
	return nil
}

// A State is what changes of a message while it waits.
type State struct {
	Lane   Lane   // where it waits now
	Aside  Aside  // why it waits in no lane
	Reason string // for people: why it was put aside

	// UnderWay says that a peer may have it: if the gateway is killed now, nobody knows
	// whether it was sent. It is stored only where such a message must not be sent again.
	UnderWay bool

	// These are the message's own fields. Batch.Keep stores those of the message.
	Attempts, Losses, Throttles uint8
	NotBefore                   int64 // by the wall clock; 0: not set
	Earlier, Sends              uint8
	Tried, TriedOf              uint16
}

// An Aside says why a message waits in no lane.
type Aside uint8

// The reasons.
const (
	InLane      Aside = iota // it waits in its lane
	Parked                   // no route leads anywhere
	Quarantined              // something fails at it
	underWay                 // stands for State.UnderWay in a stored state, because a message cannot be both
	Orphan                   // it is a receipt, and the message that it belongs to is not known
	Dead                     // it is an event that its client's server did not take in time
	Asked                    // it is a receipt, and plugins are asked about it
	Asides                   // how many there are
)

// walk leads w along the fields of a state, whose names are octets on the way.
func (s *State) walk(w *walk, connector, account, reason *[]byte) {
	place := uint8(s.Aside)
	if s.UnderWay {
		place = uint8(underWay)
	}
	w.enum("reason to be put aside", &place, uint8(Asides-1))
	if s.UnderWay = place == uint8(underWay); !s.UnderWay {
		s.Aside = Aside(place)
	}
	w.u8("attempts", &s.Attempts)
	w.u8("losses", &s.Losses)
	w.u8("throttles", &s.Throttles)
	w.time("next attempt", &s.NotBefore)
	if w.atLeast(2) {
		w.u8("earlier attempts", &s.Earlier)
		w.u16("targets tried", &s.Tried)
		w.u16("targets' route", &s.TriedOf)
	}
	if w.atLeast(3) {
		w.u8("sends", &s.Sends)
	}
	w.octets16("lane's connector", connector)
	w.octets16("lane's account", account)
	w.octets16("reason", reason)
	if len(*reason) > maxReason {
		w.fail("reason", true)
	}
}

// AppendState appends what has changed of a message, as a record.
func AppendState(b []byte, m *sms.Message, s State, ahead int64) []byte {
	w := walk{mode: writing, b: b, ahead: ahead}
	w.begin(stateVersion)
	s.Attempts, s.Losses, s.Throttles, s.NotBefore = m.Attempts, m.Losses, m.Throttles, m.NotBefore
	s.Earlier, s.Tried, s.TriedOf, s.Sends = m.Earlier, m.Tried, m.TriedOf, m.Sends
	connector, account, reason := octetsOf(s.Lane.Connector), octetsOf(s.Lane.Account), octetsOf(s.Reason)
	reason = reason[:min(len(reason), maxReason)]
	s.walk(&w, &connector, &account, &reason)
	return w.b
}

// DecodeState reads what AppendState has appended.
func DecodeState(state []byte) (State, error) {
	w := walk{b: state}
	if err := w.version("message's state", stateVersion); err != nil {
		return State{}, err
	}
	var s State
	var connector, account, reason []byte
	s.walk(&w, &connector, &account, &reason)
	if err := w.end("message's state"); err != nil {
		return State{}, err
	}
	s.Lane, s.Reason = Lane{Connector: string(connector), Account: string(account)}, string(reason)
	return s, nil
}

// Restore gives the message the fields of it that the state holds. Its times are by the
// clock that the wall clock is ahead of.
func (s *State) Restore(m *sms.Message, ahead int64) {
	m.Attempts, m.Losses, m.Throttles = s.Attempts, s.Losses, s.Throttles
	m.NotBefore = shift(s.NotBefore, -ahead)
	m.Earlier, m.Tried, m.TriedOf, m.Sends = s.Earlier, s.Tried, s.TriedOf, s.Sends
}
