package store

import "pmg/sms"

// The versions of records. The record of a message consists of its head and its body. The state is
// a separate record. The walk functions below define the fields. A changed format needs a higher
// version octet.
const (
	recordVersion   = 2
	recordSubmitted = 3 // the record has the message as the client submitted it
	recordTagged    = 4 // the record has the submitted message, and tags
	recordNetwork   = 5 // the record has a network, and optionally the fields above
	recordPriced    = 6 // the record has a price, and optionally the fields above
	recordShorts    = 7 // the record has a price for several short messages, and optionally the fields above
	recordLast      = recordShorts
	stateVersion    = 3
)

// maxReason is the maximum length of a stored reason, in octets.
const maxReason = 1000

// storedFlags are the flags that describe the message itself, and are stored. The other flags
// describe the message's place in a queue.
const storedFlags = sms.HasHeader | sms.ReplyPath | sms.RelativeValidity | sms.HasReport | sms.Converted

// A Head is the part of a record that can be decoded without the rest. It has all data that is
// needed to queue the message.
//
// The names share their octets with the record.
type Head struct {
	Account, Connector         []byte // origin of the message
	LaneConnector, LaneAccount []byte // the lane for which the message was accepted; one of the names is empty

	Arrived, DeliverAt, Expires int64 // times of the wall clock; 0: not set
	Priority                    uint8
	Kind                        sms.Kind
	Price                       sms.Money // price reserved for the message; 0: nothing
	shorts                      uint8     // number of short messages that Price is for; 0: one
}

// walk passes w along the fields of a head.
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
	if w.atLeast(recordShorts) {
		w.u8("short messages", &h.shorts)
	}
}

// A body is the part of a message's record that follows the head.
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

// walk passes w along the fields of a body.
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

// walkMessage passes w, which writes or measures, along the fields of a message's record.
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
	switch h.shorts = sms.ShortsOf(m); {
	case h.shorts > 1:
		version = recordShorts
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

// AppendRecord appends the record of a message that was accepted for a lane. ahead is how many
// nanoseconds the wall clock is ahead of the clock of the message's times.
func AppendRecord(b []byte, m *sms.Message, lane Lane, ahead int64) []byte {
	w := walk{mode: writing, b: b, ahead: ahead}
	walkMessage(&w, m, lane)
	return w.b
}

// RecordSize returns how many octets AppendRecord would append.
func RecordSize(m *sms.Message, lane Lane) int {
	w := walk{mode: measuring}
	walkMessage(&w, m, lane)
	return w.n
}

// DecodeHead decodes only the head of a record.
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

// Decode decodes a record into an empty message, except ID and Origin. The message's times are
// those of the clock that the wall clock is ahead of by ahead nanoseconds.
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
	if record[0] == recordShorts && h.shorts < 2 {
		w.fail("short messages", true)
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
	sms.SetPrice(m, h.Price, h.shorts)
	m.PID, m.Alphabet, m.Class = b.pid, sms.Alphabet(b.alphabet), sms.Class(b.class)
	m.Notify, m.Flags = sms.Notify(b.notify), sms.Flags(b.flags)
	m.Offset, m.Part, m.Parts, m.Network = b.offset, b.part, b.parts, sms.Network(b.network)
	return nil
}

// A State is the part of a message that changes while the message waits.
type State struct {
	Lane   Lane   // the lane in which the message waits now
	Aside  Aside  // why the message waits in no lane
	Reason string // text for operators: why the message was put aside

	// UnderWay says that a peer may have received the message. If the gateway is killed now, it cannot
	// find out whether the message was sent. UnderWay is stored only if such a message must not be sent
	// again.
	UnderWay bool

	// The fields below are copies of the message's fields. Batch.Keep sets them.
	Attempts, Losses, Throttles uint8
	NotBefore                   int64 // time of the wall clock; 0: not set
	Earlier, Sends              uint8
	Tried, TriedOf              uint16
}

// An Aside says why a message waits in no lane.
type Aside uint8

// The reasons.
const (
	InLane      Aside = iota // the message waits in its lane
	Parked                   // no route of the message leads to a lane
	Quarantined              // the handling of the message has failed
	underWay                 // stands for State.UnderWay in a stored state, because such a message is never aside
	Orphan                   // the message is a receipt for an unknown message
	Dead                     // the message is an event that the client's server did not accept in time
	Asked                    // the message is a receipt, and plugins are being asked about it
	Asides                   // number of the reasons
)

// walk passes w along the fields of a state. The names are passed as octets.
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

// AppendState appends the state of a message, encoded as a record.
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

// DecodeState decodes a state that AppendState made.
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

// Restore sets the fields of a message that the state holds. The message's times are those of the
// clock that the wall clock is ahead of by ahead nanoseconds.
func (s *State) Restore(m *sms.Message, ahead int64) {
	m.Attempts, m.Losses, m.Throttles = s.Attempts, s.Losses, s.Throttles
	m.NotBefore = shift(s.NotBefore, -ahead)
	m.Earlier, m.Tried, m.TriedOf, m.Sends = s.Earlier, s.Tried, s.TriedOf, s.Sends
}
