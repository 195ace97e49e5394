package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/gateway/operate"
	"pmg/pdulog"
	"pmg/sms"
)

// mostFates is how many messages are told of; a number may have many.
const mostFates = 20

// fates are what became of messages.
type fates struct {
	all      []*fate // in the order of their first lines
	by       map[string]*fate
	receipts map[string]*fate  // of ids of receipts to clients: their messages
	peers    map[string]string // of SMSCs' ids: our ids of the messages
	open     map[string]*fate  // of submits that were not answered yet, by session and sequence
	unseen   []string          // ids of receipts of which no line was found
}

// A fate is what became of a message, in the order in which it happened.
type fate struct {
	id     string
	told   []string
	queued string // where it waits now
	ended  bool   // an event or the peer's answer says how it ended
}

// A tracedEvent is what is read of an event.
type tracedEvent struct {
	ID, Kind, State, Reason, About, Delivery string
	ToConnector                              string    `json:"to_connector"`
	ToAccount                                string    `json:"to_account"`
	ClientID                                 string    `json:"client_id"`
	StatusName                               string    `json:"status_name"`
	EndedAt                                  time.Time `json:"ended_at"`
}

func newFates(lines [][]byte) *fates {
	f := &fates{by: map[string]*fate{}, receipts: map[string]*fate{}, peers: map[string]string{}, open: map[string]*fate{}}
	for _, add := range []func(*pdulog.Entry){f.addPeer, f.add} { // a receipt may stand before the answer
		for _, line := range lines {
			if e, err := pdulog.Parse(line); err == nil {
				add(&e)
			}
		}
	}
	return f
}

// addPeer notes the SMSC's id in an answer.
func (f *fates) addPeer(e *pdulog.Entry) {
	peer := e.PeerID()
	if _, isAnswer := e.Status(); !isAnswer || !e.Received || peer == "" || e.ID == nil {
		return
	}
	for _, form := range pdulog.IDForms(peer) {
		if f.peers[form] == "" {
			f.peers[form] = string(e.ID)
		}
	}
	f.peers[peer] = string(e.ID)
}

// of returns the fate of the message with an id.
func (f *fates) of(id string) *fate {
	if f.by[id] == nil {
		f.by[id] = &fate{id: id}
		f.all = append(f.all, f.by[id])
	}
	return f.by[id]
}

// know notes an id that was asked for, of which the pdu logs may have no line any more.
func (f *fates) know(id string) {
	if id = strings.ToLower(id); len(f.all) == 0 && isID(id) {
		f.of(id)
	}
}

func isID(text string) bool {
	_, err := sms.ParseID(text)
	return err == nil
}

func (t *fate) tell(format string, args ...any) {
	t.told = append(t.told, fmt.Sprintf(format, args...))
}

const stamp = "2006-01-02T15:04:05.000Z"

func (f *fates) add(e *pdulog.Entry) {
	at, id := e.Time.Format(stamp), string(e.ID)
	sequence, _ := e.Sequence()
	status, isAnswer := e.Status()
	ids, state := e.Receipt()
	key := func(received bool) string { return fmt.Sprint(e.Connector, e.Instance, received, sequence) }
	switch {
	case isAnswer && !e.Received:
		f.answered(e, cmp.Or(id, e.PeerID()), status, at)
	case isAnswer:
		if t := f.receipts[id]; t != nil {
			if status.Value == 0 {
				t.tell("receipt delivered to %s at %s", e.Account, at)
			} else {
				t.tell("receipt refused by %s at %s with %s", e.Account, at, status)
			}
		} else if t := f.open[key(false)]; t != nil {
			f.sent(t, e, status, at)
		}
	case len(ids) > 0 && e.Received:
		f.reported(e, ids, state, at)
	case len(ids) > 0:
		if t := f.by[ids[0]]; t != nil {
			f.receipts[id] = t
			t.tell("receipt %s sent to %s at %s", state, e.Account, at)
		}
	case !e.Received && id != "" && f.receipts[id] == nil:
		f.open[key(false)] = f.of(id)
	}
}

// answered notes our answer to a client's message.
func (f *fates) answered(e *pdulog.Entry, id string, status pdulog.Status, at string) {
	if !isID(id) || f.receipts[id] != nil || len(e.Account) == 0 {
		return
	}
	if status.Value == 0 {
		f.of(id).tell("accepted from %s at %s", e.Account, at)
	} else {
		f.of(id).tell("refused to %s at %s with %s", e.Account, at, status)
	}
}

// sent notes a peer's answer to a message.
func (f *fates) sent(t *fate, e *pdulog.Entry, status pdulog.Status, at string) {
	if status.Value != 0 {
		t.tell("%s answered %s at %s", e.Connector, status, at)
		return
	}
	t.ended = true
	if peer := e.PeerID(); peer != "" {
		t.tell("taken by %s at %s as %s", e.Connector, at, peer)
		return
	}
	t.tell("taken by %s at %s", e.Connector, at)
}

// reported notes a receipt of an SMSC.
func (f *fates) reported(e *pdulog.Entry, ids []string, state, at string) {
	for _, id := range ids {
		if known := f.peers[id]; known != "" {
			f.of(known).tell("%s reported %s at %s", e.Connector, cmp.Or(state, "its state"), at)
			return
		}
	}
}

// readEvents adds what the events in a directory say.
func (f *fates) readEvents(ctx context.Context, dir string, since time.Time) error {
	var words [][]byte
	for _, t := range f.all[:min(len(f.all), mostFates)] {
		words = append(words, []byte(t.id))
	}
	return pdulog.ReadLines(ctx, dir, "events", since, time.Time{}, func(line []byte) {
		if !slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(line, w) }) {
			return
		}
		var e tracedEvent
		if json.Unmarshal(line, &e) == nil {
			f.event(&e)
		}
	})
}

func (f *fates) event(e *tracedEvent) {
	at := e.EndedAt.UTC().Format(stamp)
	if t := f.by[e.About]; t != nil && e.Kind == "receipt" {
		if f.receipts[e.ID] == nil {
			t.tell("receipt (%s) for %s: %s at %s", e.Delivery, e.ToAccount, e.State, at)
			f.unseen = append(f.unseen, e.ID)
		}
		return
	}
	t := f.by[e.ID]
	if t == nil && f.by[e.ClientID] != nil { // another part or recipient, of which no line was found
		t = f.of(e.ID)
	}
	if t == nil || e.Kind == "receipt" {
		return
	}
	if e.State == "sent" && t.ended { // the peer's answer says so
		return
	}
	t.ended = true
	to := cmp.Or(e.ToConnector, e.ToAccount)
	switch {
	case e.State == "sent":
		t.tell("taken by %s at %s", to, at)
	case e.StatusName != "":
		t.tell("%s at %s: %s answered %s", e.State, at, to, e.StatusName)
	default:
		t.tell("%s at %s", e.State, at)
	}
}

// askStore adds where messages wait. Without an answer nothing is added: the store may be in use by
// a gateway that does not listen for operators.
func (f *fates) askStore(ctx context.Context, cfg *config.Config) {
	running := new(ask.Gateway)
	if len(f.all) == 0 || running.Find(cfg, "") != nil {
		return
	}
	var q admin.QueueQuery
	for _, t := range f.all[:min(len(f.all), mostFates)] {
		if id, err := sms.ParseID(t.id); err == nil {
			q.IDs = append(q.IDs, id)
		}
	}
	q.Limit = len(q.IDs)
	page, err := runningStore{running}.list(ctx, q)
	if err != nil {
		return
	}
	for i := range page.Messages {
		m := &page.Messages[i]
		t := f.by[m.ID]
		switch {
		case t == nil:
		case m.Receiver != "":
			t.queued = "waits for the clients of " + m.Receiver
		case m.State == operate.StateQueued:
			t.queued = "waits for connector " + m.Connector
		default:
			t.queued = "is " + m.State
		}
	}
}

// tell returns a line for each message.
func (f *fates) tell() (lines []string) {
	for _, t := range f.all[:min(len(f.all), mostFates)] {
		told := t.told
		switch {
		case t.queued != "" && !t.ended:
			told = append(told, t.queued+": pmg queue show "+t.id)
		case len(told) == 0:
			continue
		case !t.ended && !strings.HasPrefix(told[len(told)-1], "refused"):
			told = append(told, "what followed is neither in the pdu logs nor in the events")
		}
		lines = append(lines, t.id+": "+strings.Join(told, "; "))
	}
	if more := len(f.all) - mostFates; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more messages: pmg trace ID tells of one", more))
	}
	return lines
}
