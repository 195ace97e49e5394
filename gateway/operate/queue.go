package operate

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"pmg/gateway/settle"
	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/store"
)

// The states of a message in the store, as operators see them.
const (
	StateQueued      = "queued"      // the message waits in a lane or is under way
	StateParked      = "parked"      // the message has no route
	StateQuarantined = "quarantined" // the handling of the message has failed
	StateOrphan      = "orphan"      // a receipt whose message is not known
	StateAsked       = "asked"       // a receipt for which the verdict of plugins is awaited
	StateDead        = "dead"        // an event that the client's server did not accept in time
	StateUnreadable  = "unreadable"  // the record of the message is damaged
)

// A Selection selects messages in a store for an operator. The zero value selects all readable messages. Unreadable messages
// are selected by their ids.
type Selection struct {
	IDs       []uint64
	Connector string                  // connector that the messages wait for
	Account   string                  // account that submitted the messages, or whose clients they wait for
	Dest      string                  // prefix of the destination
	Older     time.Duration           // minimum age
	State     string                  // one of the states above
	Kind      string                  // kind of message: submit, mo or receipt
	Delivery  string                  // the state in a receipt
	Since     time.Time               // earliest time of arrival
	Until     time.Time               // time of arrival before this time
	Text      bool                    // the result includes the texts
	UpTo      uint64                  // highest id; 0: that of the last message
	Is        func(*sms.Message) bool // selects messages; nil: all
	Has       []byte                  // octets that the record must contain, such as a number; other records are not decoded
}

// A StoredMessage is the view of operators of a message in the store. Times are by the wall clock.
type StoredMessage struct {
	ID          string     `json:"id"`
	State       string     `json:"state"`
	Reason      string     `json:"reason,omitempty"`    // reason why the message was put aside
	Connector   string     `json:"connector,omitempty"` // connector that the message waits for
	Receiver    string     `json:"receiver,omitempty"`  // account whose clients the message waits for
	Account     string     `json:"account,omitempty"`   // the account that submitted the message
	From        string     `json:"from,omitempty"`      // the connector on which the message arrived
	Kind        string     `json:"kind,omitempty"`
	Source      string     `json:"source,omitempty"`
	Dest        string     `json:"destination,omitempty"`
	Priority    uint8      `json:"priority"`
	Attempts    uint8      `json:"attempts"`
	Arrived     time.Time  `json:"arrived"`
	DeliverAt   *time.Time `json:"deliver_at,omitempty"`
	NextAttempt *time.Time `json:"next_attempt,omitempty"`
	Expires     *time.Time `json:"expires,omitempty"`
	DeadSince   *time.Time `json:"dead_since,omitempty"`
	Octets      int        `json:"octets"`             // octets of the text
	About       string     `json:"about,omitempty"`    // id by which the client knows the message of a receipt
	Delivery    string     `json:"delivery,omitempty"` // state in a receipt
	Price       string     `json:"price,omitempty"`    // what is reserved for the message, with the currency if a gateway is asked
	Text        *string    `json:"text,omitempty"`
	Result      string     `json:"result,omitempty"` // result of a change
}

// A QueuePage is a part of an answer about the messages in a store.
type QueuePage struct {
	Messages []StoredMessage `json:"messages"`
	Looked   int             `json:"looked"` // number of examined messages
	Next     uint64          `json:"next"`   // id with which to continue; 0: there are no more
	UpTo     uint64          `json:"up_to"`  // the UpTo of the next page's selection, so that later messages are omitted
	Memory   bool            `json:"memory"` // the store is in memory, and has only messages that are put aside
}

// The limits of a page keep an answer to a few milliseconds of reading, and to about a megabyte.
const (
	pageLooks   = 20_000
	PageMatches = 1000
)

// A found is a message that matches an operator's selection.
type found struct {
	id      uint64
	record  []byte
	message *sms.Message // with times of the wall clock; nil: the message cannot be read
	head    store.Head
	state   store.State
	changed bool // the store has a state of the message
	err     error
}

// lane returns the lane in which the message waits, according to the store.
func (f *found) lane() store.Lane {
	if f.changed {
		return f.state.Lane
	}
	return store.Lane{Connector: string(f.head.LaneConnector), Account: string(f.head.LaneAccount)}
}

// newFound reads an entry, and keeps a copy of it.
func newFound(e *store.Entry) *found {
	f := &found{id: e.ID, record: bytes.Clone(e.Record)}
	if f.head, f.err = store.DecodeHead(f.record); f.err == nil && e.State != nil {
		f.changed = true
		f.state, f.err = store.DecodeState(e.State)
	}
	m := &sms.Message{ID: e.ID}
	if f.err == nil {
		f.err = store.Decode(f.record, m, 0)
	}
	if f.err == nil {
		f.state.Restore(m, 0)
		f.message = m
	}
	return f
}

// stateName returns the state as operators see it.
func (f *found) stateName() string {
	switch {
	case f.err != nil:
		return StateUnreadable
	case f.state.Aside == store.Parked:
		return StateParked
	case f.state.Aside == store.Quarantined:
		return StateQuarantined
	case f.state.Aside == store.Orphan:
		return StateOrphan
	case f.state.Aside == store.Asked:
		return StateAsked
	case f.state.Aside == store.Dead:
		return StateDead
	}
	return StateQueued
}

// matches reports whether a message matches the selection, apart from its id.
func (s *Selection) matches(f *found, now time.Time) bool {
	if f.err != nil {
		return len(s.IDs) > 0
	}
	lane, arrived := f.lane(), time.Unix(0, f.head.Arrived)
	switch {
	case f.state.Aside == store.Dead && s.State != StateDead && len(s.IDs) == 0, // dead letters do not wait
		s.Delivery != "" && s.Delivery != deliveryOf(f.message),
		!s.Since.IsZero() && arrived.Before(s.Since),
		!s.Until.IsZero() && !arrived.Before(s.Until),
		s.State != "" && s.State != f.stateName(),
		s.Kind != "" && s.Kind != kindNames()[f.message.Kind],
		s.Connector != "" && s.Connector != lane.Connector,
		s.Account != "" && s.Account != string(f.head.Account) && s.Account != lane.Account,
		s.Is != nil && !s.Is(f.message),
		s.Older > 0 && now.Sub(arrived) < s.Older:
		return false
	}
	return bytes.HasPrefix(number.Of(f.message.Dest()).Octets(), number.Read(s.Dest).Octets())
}

// deliveryOf returns the state in a receipt, or "" for other messages.
func deliveryOf(m *sms.Message) string {
	if r, ok := m.Report(); ok {
		return r.State.String()
	}
	return ""
}

// errPageFull stops a scan when the page is full.
var errPageFull = errors.New("the page is full")

// find returns up to limit selected messages whose id is at least from, and the number of messages examined. next is the id to
// continue with, or 0 if there are no more messages.
func (s *Selection) find(
	in store.Index, from uint64, limit int, now time.Time,
) (all []*found, looked int, next uint64, err error) {
	if limit = min(limit, PageMatches); s.UpTo == 0 {
		s.UpTo = in.LastID()
	}
	if len(s.IDs) > 0 {
		return s.findIDs(in, from, limit, now)
	}
	var behind uint64
	next, err = in.Scan(from, pageLooks, func(e *store.Entry) error {
		switch {
		case e.ID > s.UpTo:
			return errPageFull
		case len(all) == limit:
			behind = e.ID
			return errPageFull
		}
		looked++
		if !bytes.Contains(e.Record, s.Has) {
			return nil
		}
		if f := newFound(e); s.matches(f, now) {
			all = append(all, f)
		}
		return nil
	})
	if errors.Is(err, errPageFull) {
		return all, looked, behind, nil
	}
	return all, looked, next, err
}

// findIDs finds the messages that are selected by their ids.
func (s *Selection) findIDs(
	in store.Index, from uint64, limit int, now time.Time,
) (all []*found, looked int, next uint64, err error) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(s.IDs))) {
		if id < from {
			continue
		}
		if len(all) == limit {
			return all, looked, id, nil
		}
		var e store.Entry
		ok, err := in.Get(id, &e)
		if err != nil {
			return nil, 0, 0, err
		}
		if !ok {
			continue
		}
		looked++
		if f := newFound(&e); s.matches(f, now) {
			all = append(all, f)
		}
	}
	return all, looked, 0, nil
}

// ListStored returns up to limit selected messages of a store, whose id is at least from. The store of a running gateway may
// be read meanwhile.
func ListStored(in store.Index, s Selection, from uint64, limit int) (QueuePage, error) {
	all, looked, next, err := s.find(in, from, limit, time.Now())
	if err != nil {
		return QueuePage{}, fmt.Errorf("cannot list messages: %w", err)
	}
	return newPage(all, looked, next, s), nil
}

func newPage(all []*found, looked int, next uint64, s Selection) QueuePage {
	p := QueuePage{Messages: make([]StoredMessage, len(all)), Looked: looked, Next: next, UpTo: s.UpTo}
	for i, f := range all {
		p.Messages[i] = f.show(s.Text)
	}
	return p
}

// show returns the view of operators of a message.
func (f *found) show(text bool) StoredMessage {
	s := StoredMessage{ID: sms.FormatID(f.id), State: f.stateName()}
	m := f.message
	if m == nil {
		s.Reason = f.err.Error()
		return s
	}
	lane := f.lane()
	s.Reason, s.Connector, s.Receiver = f.state.Reason, lane.Connector, lane.Account
	s.Account, s.From = string(f.head.Account), string(f.head.Connector)
	s.Kind = kindNames()[m.Kind]
	s.Source, s.Dest = string(m.Source().Addr), string(m.Dest().Addr)
	s.Priority, s.Attempts, s.Octets = m.Priority, settle.AttemptsOf(m, sms.Deleted, 0), len(m.Text())
	s.Arrived = time.Unix(0, m.Arrived).UTC()
	s.DeliverAt, s.NextAttempt, s.Expires = wallTime(m.DeliverAt), wallTime(m.NotBefore), wallTime(m.Expires)
	if f.state.Aside == store.Dead {
		s.NextAttempt, s.DeadSince = nil, s.NextAttempt
	}
	if price := sms.PriceOf(m); price != 0 {
		s.Price = price.String()
	}
	r, isReport := m.Report()
	if isReport {
		s.Delivery = r.State.String()
		if r.Known != 0 {
			s.About = sms.FormatID(r.Known)
		}
	}
	if text && !(isReport && len(r.Original) == 0) { // the text of our own receipts is generated
		octets := m.Text()
		if isReport {
			octets = r.Original
		}
		shown, ok := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, octets)
		if !ok {
			shown = "0x" + hex.EncodeToString(octets)
		}
		s.Text = &shown
	}
	return s
}

// kindNames are the kinds of messages as operators see them.
func kindNames() [3]string {
	return [...]string{sms.Submit: "submit", sms.MO: "mo", sms.Receipt: "receipt"}
}

// wallTime returns a time of a message for operators, nil if it is not set.
func wallTime(ns int64) *time.Time {
	if ns == 0 {
		return nil
	}
	t := time.Unix(0, ns).UTC()
	return &t
}
