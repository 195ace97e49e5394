package pdulog

import (
	"bytes"
	"math/big"
	"strings"

	"pmg/internal/logtext"
)

// isAsked reports whether a line itself shows that it is about a selected message.
func (w *tracer) isAsked(e *Entry) bool {
	if e.ID != nil && (w.ids[string(e.ID)] || w.isPart(e)) {
		return true
	}
	if w.ID == "" && w.isOfAccount(e) && w.hasNumber(e, "source_addr", "OAdC", "destination_addr", "AdC", "from", "to") {
		return true
	}
	if w.ID != "" && string(fieldOf(e.Rest, "reference")) == w.ID { // of a client of HTTP
		return true
	}
	if id := fieldOf(e.Rest, "message_id"); len(id) > 0 {
		if string(id) == w.ID || !e.Received && w.ids[string(id)] {
			return true
		}
		_, isAnswer := e.Status()
		if _, known := w.peers[string(id)]; known && !isAnswer { // an operation of a client or ours, like query_sm
			return e.ID == nil
		}
	}
	return w.isReceipt(e)
}

// isOfAccount reports whether a line is about a message of the wanted account, or says of none.
func (w *tracer) isOfAccount(e *Entry) bool {
	return w.Account == "" || e.Account == nil || e.AccountName() == w.Account
}

func (w *tracer) hasNumber(e *Entry, fields ...string) bool {
	for _, f := range fields {
		if SameNumber(string(fieldOf(e.Rest, f)), w.Number) {
			return true
		}
	}
	return false
}

// isReceipt reports whether a line is a receipt for one of the messages: one of ours, which names
// the id that the client knows, or an SMSC's, which names its own and the recipient.
func (w *tracer) isReceipt(e *Entry) bool {
	for _, id := range receiptIDs(e) {
		switch {
		case !e.Received && (w.ids[id] || w.short[id]), id == w.ID && id != "":
			return true
		case e.Received && (w.hasPeer(e.Connector, id) || w.forms[id] && w.isRecipient(e)):
			return true
		}
	}
	return false
}

// hasPeer reports whether a receipt that came by a connector names a peer's id as it stands.
func (w *tracer) hasPeer(connector, id string) bool {
	from, ok := w.peers[id]
	return ok && (from == "" || from == connector)
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

// isRecipient reports whether a receipt of an SMSC is about a recipient of the messages. It keeps
// another message from being taken for the one that has the same id elsewhere, or in another
// form.
func (w *tracer) isRecipient(e *Entry) bool {
	for _, field := range [...]string{"source_addr", "destination_addr"} {
		for _, n := range w.numbers {
			if a := fieldOf(e.Rest, field); len(a) > 0 && ComparedEnd(string(a)) == ComparedEnd(string(n)) {
				return true
			}
		}
	}
	return false
}

// learn notes what a line about a selected message tells.
func (w *tracer) learn(e *Entry) {
	if e.ID != nil {
		w.addID(string(e.ID))
	}
	id := fieldOf(e.Rest, "message_id")
	if _, isAnswer := e.Status(); isAnswer {
		switch {
		case len(id) == 0:
		case e.Received:
			w.addPeer(string(id), e.Connector)
		case logtext.IsID(id):
			w.addID(string(id))
		case e.ID != nil && !w.short[string(id)]:
			w.short[string(id)] = true
			w.told = append(w.told, bytes.Clone(id))
			w.learned++
		}
		return
	}
	if len(receiptIDs(e)) > 0 {
		return
	}
	if to := fieldOf(e.Rest, "destination_addr"); len(to) > 0 && e.ID != nil && !e.Received && len(w.numbers) < maxTraced {
		w.numbers = append(w.numbers, bytes.Clone(to))
	}
	if p := partOf(e); p.total > 1 && e.ID != nil && !e.Received {
		w.addParts(string(e.ID), p)
	}
}

func (w *tracer) addID(id string) {
	if w.ids[id] {
		return
	}
	if len(w.ids) >= maxTraced {
		w.Cut = true
		return
	}
	w.ids[id] = true
	w.learned++
	w.words = append(w.words, []byte(id))
}

// addPeer notes a peer's id, and the forms that its receipts may have: as it stands, without
// zeros in front, in either case, and its number in the other base.
func (w *tracer) addPeer(id, connector string) {
	if from, known := w.peers[id]; known && (from == connector || from == "" && w.forms[id]) {
		return
	}
	if len(w.peers) >= 2*maxTraced {
		w.Cut = true
		return
	}
	w.peers[id] = connector
	w.learned++
	w.addForms(id)
}

// IDForms returns the forms in which a receipt may write a peer's id, as it stands first.
func IDForms(id string) []string {
	forms := []string{id, strings.TrimLeft(id, "0"), strings.ToLower(id), strings.ToUpper(id)}
	if n, ok := new(big.Int).SetString(id, 16); ok && len(id) <= 32 {
		forms = append(forms, n.String())
	}
	if n, ok := new(big.Int).SetString(id, 10); ok && len(id) <= 32 {
		forms = append(forms, n.Text(16), strings.ToUpper(n.Text(16)))
	}
	return forms
}

func (w *tracer) addForms(id string) {
	for _, f := range IDForms(id) {
		if f != "" && !w.forms[f] {
			w.forms[f] = true
			w.learned++
			w.told = append(w.told, []byte(f))
		}
	}
}

// ComparedEnd returns the last seven digits of a number, which each form of it has, or all of it.
func ComparedEnd(number string) string { return number[max(0, len(number)-7):] }

// SameNumber reports whether two addresses are one number: international, with +, 00 or nothing
// in front, or, with one 0, national.
func SameNumber(a, b string) bool {
	a, b = international(a), international(b)
	if a == "" || b == "" {
		return false
	}
	if a == b {
		return true
	}
	for _, pair := range [...][2]string{{a, b}, {b, a}} {
		if national, ok := strings.CutPrefix(pair[0], "0"); ok && len(national) >= 7 && strings.HasSuffix(pair[1], national) {
			return true
		}
	}
	return false
}

func international(a string) string {
	if rest, ok := strings.CutPrefix(a, "00"); ok {
		return rest
	}
	return strings.TrimPrefix(a, "+")
}

// fieldOf returns the value of a field without its quotation marks, or nil if the line has
// no such field.
func fieldOf(rest []byte, name string) []byte {
	if !bytes.Contains(rest, []byte(name+"=")) {
		return nil
	}
	for len(rest) > 0 {
		var field []byte
		field, rest = logtext.NextField(rest)
		if n := len(name); len(field) > n && field[n] == '=' && string(field[:n]) == name {
			return bytes.Trim(field[n+1:], `"`)
		}
	}
	return nil
}

// MessageID reports whether s is a message id and not a phone number. A message id has 16
// hexadecimal digits, or characters other than digits.
func MessageID(s string) bool {
	digits := strings.TrimPrefix(s, "+")
	return logtext.IsID([]byte(strings.ToLower(s))) || strings.Trim(digits, "0123456789") != ""
}

// Receipt returns the ids that a receipt names and what it says of the message (stat:DELIVRD). The
// line is none if there are no ids.
func (e *Entry) Receipt() (ids []string, state string) {
	for _, field := range [...]string{"short_message", "message_payload"} {
		if _, after, ok := bytes.Cut(fieldOf(e.Rest, field), []byte("stat:")); ok {
			word, _, _ := bytes.Cut(after, []byte{' '})
			state = string(word)
		}
	}
	return receiptIDs(e), state
}

// PeerID returns the id in an answer.
func (e *Entry) PeerID() string { return string(fieldOf(e.Rest, "message_id")) }

// Addresses returns the addresses of the sender and the recipient in a request, "" where the line has none.
func (e *Entry) Addresses() (source, destination string) {
	for _, fields := range [...][2]string{{"source_addr", "destination_addr"}, {"OAdC", "AdC"}, {"from", "to"}} {
		if to := fieldOf(e.Rest, fields[1]); to != nil {
			return string(fieldOf(e.Rest, fields[0])), string(to)
		}
	}
	return "", ""
}

// Field returns the value of a field without its quotation marks, "" if the line has none.
func (e *Entry) Field(name string) string { return string(fieldOf(e.Rest, name)) }

// AccountName returns the client's account as the configuration has it.
func (e *Entry) AccountName() string {
	s := logtext.NewScanner(e.Account, nil)
	return string(s.Value())
}
