package pdulog

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"time"

	"pmg/internal/logtext"
	"pmg/sms"
	"pmg/sms/number"
)

// A peer is an SMSC's id of one of the messages.
type peer struct {
	id, connector string
	message       string    // the gateway's id
	from, until   time.Time // receipts with the id are about the message; a zero until: the SMSC has not used the id again
}

// early is the longest time by which a receipt may come before the answer with the SMSC's id that the receipt names.
const early = time.Minute

// isAsked reports whether a line itself shows that it is about a selected message.
func (w *tracer) isAsked(e *Entry) bool {
	if e.ID != nil && (w.ids[string(e.ID)] || w.isPart(e)) {
		return true
	}
	if w.ID != "" && string(fieldOf(e.Rest, "reference")) == w.ID { // of a client of HTTP
		return true
	}
	if id := fieldOf(e.Rest, "message_id"); len(id) > 0 {
		if string(id) == w.ID || !e.Received && w.ids[string(id)] {
			return true
		}
		if _, isAnswer := e.Status(); !isAnswer && e.ID == nil && w.isPeers(e, string(id)) { // an operation, like query_sm
			return true
		}
	}
	return w.isReceipt(e)
}

// isPeers reports whether an SMSC had given an id, in the same form, to one of the messages when a line was written.
func (w *tracer) isPeers(e *Entry, id string) bool {
	for _, p := range w.peers[id] {
		if p.id == id && p.connector == e.Connector && p.includes(e.Time) {
			return true
		}
	}
	return false
}

func (p *peer) includes(t time.Time) bool {
	return !t.Before(p.from.Add(-early)) && (p.until.IsZero() || t.Before(p.until))
}

// endPeer records that an SMSC has given an id to another message: the ids of an SMSC may begin again when it restarts.
func (w *tracer) endPeer(e *Entry) {
	id := fieldOf(e.Rest, "message_id")
	if _, isAnswer := e.Status(); !isAnswer || !e.Received || len(id) == 0 || e.ID == nil {
		return
	}
	for _, p := range w.peers[string(id)] {
		if p.id == string(id) && p.connector == e.Connector && p.message != string(e.ID) && e.Time.After(p.from) &&
			(p.until.IsZero() || e.Time.Before(p.until)) {
			p.until = e.Time
		}
	}
}

func (w *tracer) hasNumber(e *Entry, fields ...string) bool {
	wanted := number.Read(w.Number)
	for name, value := range eachField(e.Rest) { // a message to several recipients has a field for each
		if slices.Contains(fields, string(name)) && number.Of(sms.Address{Addr: value}).MayBe(wanted) {
			return true
		}
	}
	return false
}

// isReceipt reports whether a line is a receipt for one of the messages: a receipt of ours names the id that
// the client knows; an SMSC's receipt names the SMSC's id and the recipient.
func (w *tracer) isReceipt(e *Entry) bool {
	for _, id := range receiptIDs(e) {
		switch {
		case !e.Received && (w.ids[id] || w.short[id]), id == w.ID && id != "":
			return true
		case e.Received && w.isReceiptOfPeer(e, id):
			return true
		}
	}
	return false
}

// isReceiptOfPeer reports whether an SMSC's receipt is about one of the messages. The recipient distinguishes
// the message from messages with the same id elsewhere, at another time, or in another form.
func (w *tracer) isReceiptOfPeer(e *Entry, id string) bool {
	for _, p := range w.peers[id] {
		if !p.includes(e.Time) {
			continue
		}
		same, other := e.CompareRecipient(w.to[p.message])
		if same || p.id == id && p.connector == e.Connector && !other {
			return true
		}
	}
	if w.ID == "" { // the first form of a peer's id that was searched for
		return false
	}
	for _, form := range IDForms(w.ID)[1:] {
		for _, to := range w.to {
			if same, _ := e.CompareRecipient(to); form == id && same {
				return true
			}
		}
	}
	return false
}

// CompareRecipient reports whether a receipt has the number of a message's recipient, or that of another.
func (e *Entry) CompareRecipient(to string) (same, other bool) {
	for _, field := range [...]string{"source_addr", "destination_addr"} {
		a := string(fieldOf(e.Rest, field))
		if a != "" && to != "" && ComparedEnd(a) == ComparedEnd(to) {
			return true, false
		}
		other = other || field == "source_addr" && isNumber(a) && isNumber(to)
	}
	return false, other
}

// isNumber reports whether an address is the number of a mobile, and no name or short number.
func isNumber(a string) bool {
	return number.Read(a).IsPerson()
}

// receiptIDs returns the ids that a receipt names: in its text ("id:… sub:…") and beside it.
func receiptIDs(e *Entry) (ids []string) {
	if id := fieldOf(e.Rest, "receipted_message_id"); len(id) > 0 {
		ids = append(ids, strings.TrimSuffix(string(id), `\x00`))
	}
	for _, field := range [...]string{"short_message", "message_payload"} {
		if text, ok := bytes.CutPrefix(fieldOf(e.Rest, field), []byte("id:")); ok {
			id, _, _ := bytes.Cut(text, []byte{' '})
			ids = append(ids, string(id))
		}
	}
	return ids
}

// learn records the keys in a line about a selected message.
func (w *tracer) learn(e *Entry) {
	if e.ID != nil {
		w.addID(string(e.ID), e.Time)
	}
	id := fieldOf(e.Rest, "message_id")
	if _, isAnswer := e.Status(); isAnswer {
		switch {
		case len(id) == 0:
		case e.Received:
			w.addPeer(e, string(id))
		case logtext.IsID(id):
			w.addID(string(id), e.Time)
		case e.ID != nil && !w.short[string(id)]:
			w.short[string(id)] = true
			w.want(IDHash(id), e.Time, time.Time{})
		}
		return
	}
	if ids := receiptIDs(e); len(ids) > 0 {
		if !e.Received && logtext.IsID([]byte(ids[0])) { // a search for failed messages may find this line first
			w.addID(ids[0], acceptedAfter(ids[0]))
		}
		return
	}
	if to := fieldOf(e.Rest, "destination_addr"); len(to) > 0 && e.ID != nil && !e.Received {
		w.to[string(e.ID)] = string(to)
	}
	if p := partOf(e); p.total > 1 && e.ID != nil && !e.Received {
		w.addParts(string(e.ID), p, e.Time)
	}
}

// addID records an id that a line of a time has.
func (w *tracer) addID(id string, at time.Time) {
	if w.ids[id] {
		return
	}
	if len(w.ids) >= 4*max(w.Most, maxTraced) { // receipts and parts have ids, too
		w.Cut = true
		return
	}
	w.ids[id] = true
	if !at.IsZero() {
		at = at.Add(-answerWithin)
	}
	w.want(IDHash([]byte(id)), at, time.Time{})
}

// addPeer records a peer's id in an answer, and the forms that its receipts may have: as it stands, without
// zeros in front, in either case, and its number in the other base.
func (w *tracer) addPeer(e *Entry, id string) {
	p := &peer{id: id, connector: e.Connector, message: string(e.ID), from: e.Time}
	for _, f := range IDForms(id) {
		if f != "" {
			w.peers[f] = append(w.peers[f], p)
			w.want(IDHash([]byte(f)), e.Time.Add(-early), time.Time{})
		}
	}
}

// fieldOf returns the value of a field without its quotation marks, or nil if the line has
// no such field.
func fieldOf(rest []byte, name string) []byte {
	if !bytes.Contains(rest, []byte(name+"=")) {
		return nil
	}
	for other, value := range eachField(rest) {
		if string(other) == name {
			return value
		}
	}
	return nil
}

// eachField returns the names and the values of fields, the values without their quotation marks.
func eachField(rest []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for len(rest) > 0 {
			end := fieldEnd(rest, 0)
			name, value, ok := bytes.Cut(rest[:end], []byte{'='})
			if ok && !yield(name, trimQuotes(value)) {
				return
			}
			rest = rest[min(end+1, len(rest)):]
		}
	}
}

// Recipients returns the recipients in a request. For the answer to a message with several recipients, it
// returns the refused ones.
func (e *Entry) Recipients() (all []string) {
	if !strings.HasPrefix(e.Command, "submit_multi") {
		if _, to := e.Addresses(); to != "" {
			all = append(all, to)
		}
		return all
	}
	_, isAnswer := e.Status()
	last := ""
	for name, value := range eachField(e.Rest) { // an empty address is left out
		switch string(name) {
		case "dest_flag":
			all = append(all, "")
		case "destination_addr", "dl_name":
			if last = string(value); !isAnswer && len(all) > 0 {
				all[len(all)-1] = last
			}
		case "error_status_code":
			all, last = append(all, last), ""
		}
	}
	return all
}

// Receipt returns the ids that a receipt names and the state of the message (stat:DELIVRD). Without ids the line is no receipt.
func (e *Entry) Receipt() (ids []string, state string) {
	for _, field := range [...]string{"short_message", "message_payload"} {
		if _, after, ok := bytes.Cut(fieldOf(e.Rest, field), []byte("stat:")); ok {
			word, _, _ := bytes.Cut(after, []byte{' '})
			state = string(word)
		}
	}
	return receiptIDs(e), state
}

// ReceiptError returns the error that a receipt names (err:108), "" for none.
func (e *Entry) ReceiptError() string {
	for _, field := range [...]string{"short_message", "message_payload"} {
		if _, after, ok := bytes.Cut(fieldOf(e.Rest, field), []byte(" err:")); ok {
			if word, _, _ := bytes.Cut(after, []byte{' '}); strings.Trim(string(word), "0") != "" {
				return string(word)
			}
		}
	}
	return ""
}

// PeerID returns the id in an answer.
func (e *Entry) PeerID() string { return string(fieldOf(e.Rest, "message_id")) }

// Addresses returns the addresses of the sender and the recipient in a request, "" if the line lacks one.
func (e *Entry) Addresses() (source, destination string) {
	for _, fields := range [...][2]string{{"source_addr", "destination_addr"}, {"OAdC", "AdC"}, {"from", "to"}} {
		if to := fieldOf(e.Rest, fields[1]); to != nil {
			return string(fieldOf(e.Rest, fields[0])), string(to)
		}
	}
	return "", ""
}

// Field returns the value of a field without its quotation marks, "" if the line lacks the field.
func (e *Entry) Field(name string) string { return string(fieldOf(e.Rest, name)) }

// ReasonWords returns the reasons of the gateway's refusal of a message or an operation as text: "no credit",
// "throttled (flood)". A message to several recipients has a reason for each refused recipient. The result is
// empty if the line has no reason. The step is omitted if it means the same as the code.
func (e *Entry) ReasonWords() (all []string) {
	if e.Reason == nil {
		return nil
	}
	for reason := range strings.SplitSeq(strings.ReplaceAll(string(e.Reason), "_", " "), ",") {
		code, step, _ := strings.Cut(reason, "(")
		if step = strings.TrimSuffix(step, ")"); step != "" && !strings.Contains(code, step) {
			code += " (" + step + ")"
		}
		all = append(all, code)
	}
	return all
}

// IsOperation reports whether a line is about a client's request concerning a message, by SMPP or HTTP, and
// not about a message itself.
func (e *Entry) IsOperation() bool {
	switch strings.TrimSuffix(e.Command, "_resp") {
	case "query_sm", "cancel_sm", "replace_sm", "http_request":
		return true
	}
	return false
}

// AccountName returns the name of the client's account in the configuration.
func (e *Entry) AccountName() string {
	s := logtext.NewScanner(e.Account, nil)
	return string(s.Value())
}
