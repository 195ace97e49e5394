package story

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"pmg/events"
	"pmg/internal/logfile"
	"pmg/pdulog"
	"pmg/sms"
	"pmg/sms/number"
)

type teller struct {
	all      []*Story // stories, in the order of their first lines
	by       map[string]*Story
	receipts map[string]*Story  // stories by id of a receipt to a client
	peers    map[string][]given // messages by the id that an SMSC gave them
	to       map[string]string  // recipients, by our ids
	open     map[request]*Story // stories by unanswered request to a peer
	calls    map[request]*Story // stories by unanswered call of a webhook
	asked    map[request]asked  // unanswered requests of peers
	unseen   []string           // ids of receipts of which no line was found

	wanted *pdulog.Trace // finds messages that only events name; nil: such messages are not searched
	cut    bool          // some messages that only events name were dropped, because they are too many
}

// A request is known by its session and its sequence.
type request struct {
	connector string
	instance  int
	sequence  uint32
}

// An asked is the information in a request to accept a message.
type asked struct {
	source string
	to     []string
}

// An event is the part of an event's line that is read.
type event struct {
	ID, Kind, State, About, Delivery, Account, Source, Destination string
	Peer                                                           string `json:"smsc_id"`
	ToConnector                                                    string `json:"to_connector"`
	ToAccount                                                      string `json:"to_account"`
	ClientID                                                       string `json:"client_id"`
	StatusName                                                     string `json:"status_name"`
	Plugin, Verdict                                                string
	Tags                                                           []string
	Price, Refund, Cost                                            sms.Money
	EndedAt                                                        time.Time `json:"ended_at"`

	Network any // a text; in receipts of earlier programs a number of another meaning
}

func newTeller(lines [][]byte) *teller {
	t := &teller{
		by: map[string]*Story{}, receipts: map[string]*Story{}, peers: map[string][]given{}, to: map[string]string{},
		open: map[request]*Story{}, calls: map[request]*Story{}, asked: map[request]asked{},
	}
	for _, add := range []func(*pdulog.Entry){t.addPeer, t.add} { // a receipt may stand before the answer
		for _, line := range lines {
			if e, err := pdulog.Parse(line); err == nil {
				add(&e)
			}
		}
	}
	return t
}

// A given is an SMSC's id of a message, in an answer of a time.
type given struct {
	message, connector string
	at                 time.Time
}

// addPeer records the SMSC's id in an answer, and the recipient in a request.
func (t *teller) addPeer(e *pdulog.Entry) {
	_, isAnswer := e.Status()
	if _, to := e.Addresses(); !isAnswer && !e.Received && to != "" && e.ID != nil {
		t.to[string(e.ID)] = to
	}
	peer := e.PeerID()
	if !isAnswer || !e.Received || peer == "" || e.ID == nil {
		return
	}
	forms := pdulog.IDForms(peer)
	slices.Sort(forms)
	for _, form := range slices.Compact(forms) {
		t.peers[form] = append(t.peers[form], given{string(e.ID), e.Connector, e.Time})
	}
}

// givenID returns the message of a receipt that names an SMSC's id. Of several messages it is the one that
// got the id last before the receipt, from the same SMSC and with the same recipient, because ids may begin
// again.
func (t *teller) givenID(e *pdulog.Entry, id string) (message string) {
	best, at := -1, time.Time{}
	for _, g := range t.peers[id] {
		if g.at.After(e.Time.Add(time.Minute)) { // the answer may come a little later than the receipt
			continue
		}
		same, other := e.CompareRecipient(t.to[g.message])
		points := 0
		if g.connector == e.Connector {
			points++
		}
		if same {
			points += 2
		} else if other {
			continue
		}
		if points > best || points == best && g.at.After(at) {
			best, at, message = points, g.at, g.message
		}
	}
	return message
}

// of returns the story of the message with an id.
func (t *teller) of(id string) *Story {
	if t.by[id] == nil {
		t.by[id] = &Story{ID: id}
		t.all = append(t.all, t.by[id])
	}
	return t.by[id]
}

// know records an id of the search, of which the pdu logs may no longer have a line.
func (t *teller) know(id string) {
	if id = strings.ToLower(id); len(t.all) == 0 && isID(id) {
		t.of(id)
	}
}

// forget drops an id that was considered a message and is a receipt.
func (t *teller) forget(id string) {
	if s := t.by[id]; s != nil {
		delete(t.by, id)
		t.all = slices.DeleteFunc(t.all, func(other *Story) bool { return other == s })
	}
}

func isID(text string) bool {
	_, err := sms.ParseID(text)
	return err == nil
}

// step makes a step of a line, and adds it to a story.
func (s *Story) step(e *pdulog.Entry, what What, more func(*Step)) {
	one := Step{
		At: e.Time, What: what, Account: e.AccountName(), Connector: e.Connector, Instance: e.Instance, Line: e.Line,
		Command: e.Command,
	}
	one.Status, _ = e.Status()
	if more != nil {
		more(&one)
	}
	if what == Accepted && !slices.ContainsFunc(s.Steps, func(other Step) bool { return other.What == Accepted }) {
		s.Steps = slices.Insert(s.Steps, 0, one) // a message may leave before the answer to its client is logged
		return
	}
	s.Steps = append(s.Steps, one)
}

func (t *teller) add(e *pdulog.Entry) {
	id := string(e.ID)
	sequence, _ := e.Sequence()
	status, isAnswer := e.Status()
	ids, state := e.Receipt()
	key := request{e.Connector, e.Instance, sequence}
	said := func(s *Step) { s.State = state }
	switch {
	case e.IsOperation():
		t.operated(e, id)
	case isAnswer && !e.Received:
		if a, known := t.asked[key]; known || len(e.Account) > 0 { // otherwise the answer belongs to an SMSC's receipt
			delete(t.asked, key) // another request may have this number
			t.answered(e, cmp.Or(id, e.PeerID()), status, a)
		}
	case isAnswer:
		if s := cmp.Or(t.receipts[id], t.calls[key]); s != nil {
			if status.Value == 0 {
				s.step(e, ReceiptTaken, nil)
			} else {
				s.step(e, ReceiptRefused, nil)
			}
		} else if s := t.open[key]; s != nil {
			s.sent(e, status)
		}
	case len(ids) > 0 && e.Received:
		t.reported(e, ids, state)
	case len(ids) > 0:
		if s := t.by[ids[0]]; s != nil && ids[0] != id {
			t.receipts[id] = s
			t.forget(id)
			s.step(e, ReceiptSent, said)
		}
	case !e.Received && e.Field("event") != "" && e.Field("event") != id: // a webhook is called about a message
		s := t.of(id)
		t.calls[key], t.receipts[e.Field("event")] = s, s
		s.step(e, ReceiptSent, func(s *Step) { s.State = e.Field("state") })
	case e.Received:
		var a asked
		a.source, _ = e.Addresses()
		a.to = e.Recipients()
		t.asked[key] = a
	case id != "" && t.receipts[id] == nil:
		s := t.of(id)
		if t.open[key] = s; s.Destination == "" {
			s.Account = e.AccountName()
			s.Source, s.Destination = e.Addresses()
		}
		s.NoReceipt = e.Command == "submit_sm" && e.Field("registered_delivery") == "" ||
			e.Command == "op51" && e.Field("NRq") == ""
		s.step(e, Sent, nil)
	}
}

// operated records that the gateway has refused an operation about a message.
func (t *teller) operated(e *pdulog.Entry, id string) {
	if s := t.by[id]; s != nil && e.Reason != nil {
		s.step(e, NotDone, func(one *Step) { one.Reason = e.ReasonWords()[0] })
	}
}

// answered records our answer to the message of a client or an SMSC.
func (t *teller) answered(e *pdulog.Entry, id string, status pdulog.Status, a asked) {
	if t.refused(e, &a); e.Reason != nil && status.Value != 0 {
		return
	}
	if !isID(id) || t.receipts[id] != nil || len(e.Account) == 0 && status.Value != 0 {
		return
	}
	s := t.of(id)
	if s.Account = cmp.Or(s.Account, e.AccountName()); len(a.to) > 0 {
		s.Source, s.Destination = a.source, a.to[0]
	}
	if status.Value == 0 {
		s.step(e, Accepted, nil)
	} else {
		s.step(e, Refused, nil)
	}
}

// refused adds a story for each recipient that our answer refuses, and leaves the others.
func (t *teller) refused(e *pdulog.Entry, a *asked) {
	to := e.Recipients()
	if len(to) == 0 {
		to = a.to
	}
	for i, reason := range e.ReasonWords() {
		if i < len(to) && to[i] != "" {
			s := &Story{Account: e.AccountName(), Source: a.source, Destination: to[i]}
			s.step(e, Refused, func(one *Step) { one.Reason = reason })
			t.all = append(t.all, s)
		}
	}
	if e.Reason != nil {
		a.to = slices.DeleteFunc(a.to, func(one string) bool { return slices.Contains(to, one) })
	}
}

// sent records a peer's answer to a message.
func (s *Story) sent(e *pdulog.Entry, status pdulog.Status) {
	if status.Value != 0 {
		s.step(e, Answered, nil)
		return
	}
	s.Ended = true
	s.step(e, Taken, func(one *Step) { one.PeerID = e.PeerID() })
}

// reported records a receipt of an SMSC.
func (t *teller) reported(e *pdulog.Entry, ids []string, state string) {
	for _, id := range ids {
		if known := t.givenID(e, id); known != "" {
			t.of(known).step(
				e, Reported, func(s *Step) { s.State, s.PeerID, s.Error = cmp.Or(state, "its state"), id, e.ReceiptError() },
			)
			return
		}
	}
}

// readEvents adds the information of events to the first stories.
func (t *teller) readEvents(ctx context.Context, f *Finder, since time.Time) error {
	logs := f.Logs
	if logs == nil {
		logs = new(logfile.Logs)
	}
	walk, err := logs.Walk(f.Events, events.AppendKeys, []string{"events"}, since, time.Time{})
	if err != nil {
		return err
	}
	defer walk.Close()
	var keys []logfile.Key
	for _, s := range t.all[:min(len(t.all), f.Most)] {
		keys = append(keys, logfile.Key{Hash: pdulog.IDHash([]byte(s.ID))})
	}
	if w := t.wanted; w != nil && w.ID != "" {
		keys = append(keys, logfile.Key{Hash: pdulog.IDHash([]byte(w.ID))})
	} else if w != nil {
		keys = append(keys, logfile.Key{Hash: pdulog.NumberHash([]byte(w.Number))})
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := t.walkEvents(ctx, walk, keys, f.Most)
	for i := range slices.Backward(found) {
		e := &found[i]
		if t.by[e.ID] == nil && t.wants(e) {
			t.of(e.ID)
		}
		t.event(e)
	}
	return err
}

// walkEvents returns events that may be about the messages, the latest first.
func (t *teller) walkEvents(ctx context.Context, walk *logfile.Walk, keys []logfile.Key, most int) (found []event, err error) {
	hashes, room, buf := map[uint64]bool{}, most-len(t.all), []uint64(nil)
	for _, k := range keys {
		hashes[k.Hash] = true
	}
	err = walk.Blocks(ctx, keys, func(lines logfile.Lines) bool {
		for _, line := range slices.Backward(bytes.Split(lines.Text, []byte{'\n'})) {
			buf, _ = events.AppendKeys(line, buf[:0])
			var e event
			if !slices.ContainsFunc(buf, func(key uint64) bool { return hashes[key] }) || json.Unmarshal(line, &e) != nil {
				continue
			}
			if t.by[e.ID] == nil && t.wants(&e) {
				if room--; room < 0 {
					t.cut = true
					return false
				}
			}
			found = append(found, e)
		}
		return true
	})
	return found, err
}

// wants reports whether an event is about a message of the search.
func (t *teller) wants(e *event) bool {
	w := t.wanted
	switch {
	case w == nil, e.Kind == "receipt", e.EndedAt.Before(w.Filter.Since), !w.Filter.Until.IsZero() &&
		!e.EndedAt.Before(w.Filter.Until):
		return false
	case w.ID != "":
		return e.Peer == w.ID
	}
	return (w.Account == "" || e.Account == w.Account) &&
		(number.Read(e.Source).MayBe(number.Read(w.Number)) || number.Read(e.Destination).MayBe(number.Read(w.Number)))
}

func (t *teller) event(e *event) {
	if s := t.by[e.About]; s != nil && e.Kind == "receipt" {
		if t.receipts[e.ID] == nil {
			s.Steps = append(
				s.Steps, Step{At: e.EndedAt, What: ReceiptEnded, Account: e.ToAccount, Delivery: e.Delivery, State: e.State},
			)
			t.unseen = append(t.unseen, e.ID)
		}
		return
	}
	s := t.by[e.ID]
	if s == nil && t.by[e.ClientID] != nil { // another part or recipient, of which no line was found
		s = t.of(e.ID)
	}
	if s == nil || e.Kind == "receipt" {
		return
	}
	if e.Kind == "refund" { // the price of a message that has ended
		s.Refund += e.Refund
		return
	}
	s.Price, s.Cost, s.By = e.Price, e.Cost, e.ToConnector
	s.Account = cmp.Or(s.Account, e.Account)
	s.Source, s.Destination = cmp.Or(s.Source, e.Source), cmp.Or(s.Destination, e.Destination)
	s.Plugin, s.Verdict, s.Tags = e.Plugin, e.Verdict, e.Tags
	s.Network, _ = e.Network.(string)
	if e.State == "sent" && s.Ended { // the peer's answer already reports the state
		return
	}
	s.Ended = true
	one := Step{
		At: e.EndedAt, What: Ended, Connector: cmp.Or(e.ToConnector, e.ToAccount), State: e.State,
		Status: pdulog.Status{Name: e.StatusName},
	}
	if e.State == "sent" {
		one = Step{At: e.EndedAt, What: Taken, Connector: one.Connector}
	}
	s.Steps = append(s.Steps, one)
}
