package pdulog

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"pmg/internal/logtext"
)

// A Trace selects the messages whose way through the gateway is traced.
type Trace struct {
	ID     string // the gateway's or a peer's id of the message
	Number string // number of the sender or the recipient; used if ID is empty
	Filter Filter

	// Short returns the id of a message for peers that support only short ids.
	Short func(id uint64) string
}

// Trace returns the lines about the selected messages, in the order of Read: the request
// that carried a message to the gateway and its answer, the requests that carried it to a
// peer and their answers, and receipts with the SMSC's id of it. If the id is a peer's,
// Trace first reads the logs once more, to find the gateway's id.
func (t *Trace) Trace(ctx context.Context, dir string) (lines [][]byte, err error) {
	w := &tracer{Trace: t, ids: map[string]bool{}, peers: map[string]bool{}}
	query := Query{Filter: t.Filter}
	if t.ID != "" {
		w.peers[t.ID] = true // from the answer to a client, or of an SMSC
		if id := strings.ToLower(t.ID); logtext.IsID([]byte(id)) {
			w.ids[id] = true
		} else if _, err := Read(ctx, dir, query, w.resolve); err != nil {
			return nil, err
		}
	}
	w.open = map[openKey]*tracedLine{}
	if _, err := Read(ctx, dir, query, w.visit); err != nil {
		return nil, err
	}
	slices.SortFunc(w.found, func(a, b *tracedLine) int { return a.at - b.at })
	for _, l := range w.found {
		lines = append(lines, l.line)
	}
	return lines, nil
}

type tracer struct {
	*Trace
	ids   map[string]bool         // the gateway's ids of the messages, 16 digits
	peers map[string]bool         // the peers' ids of the messages
	open  map[openKey]*tracedLine // requests without an answer so far
	found []*tracedLine
	read  int
}

type tracedLine struct {
	line  []byte
	at    int // its number among the lines that were read
	found bool
}

// resolve searches the gateway's ids of a message for a peer's id.
func (w *tracer) resolve(e *Entry) error {
	if e.ID == nil {
		return nil
	}
	if id, err := strconv.ParseUint(string(e.ID), 16, 64); err == nil && (w.names(e, "message_id") || w.Short != nil && w.peers[w.Short(id)]) {
		w.ids[string(e.ID)] = true
	}
	return nil
}

// visit handles the next line.
func (w *tracer) visit(e *Entry) error {
	w.read++
	sequence, _ := e.Sequence()
	key := openKey{e.Connector, e.Instance, e.Received, sequence}
	if _, answer := e.Status(); !answer {
		l := &tracedLine{line: bytes.Clone(e.Line), at: w.read}
		w.open[key] = l
		if w.isAsked(e) {
			w.find(l)
		}
		return nil
	}
	key.received = !key.received
	request := w.open[key]
	delete(w.open, key)
	asked := w.isAsked(e)
	if !asked && (request == nil || !request.found) {
		return nil
	}
	if request != nil {
		w.find(request)
	}
	w.find(&tracedLine{line: bytes.Clone(e.Line), at: w.read})
	w.learn(e)
	return nil
}

func (w *tracer) find(l *tracedLine) {
	if !l.found {
		l.found = true
		w.found = append(w.found, l)
	}
}

// learn stores the ids in an answer about a selected message.
func (w *tracer) learn(e *Entry) {
	if e.ID != nil {
		w.ids[string(e.ID)] = true
	}
	if id := fieldOf(e.Rest, "message_id"); len(id) > 0 {
		if e.Received {
			w.peers[string(id)] = true
		} else if logtext.IsID(id) {
			w.ids[string(id)] = true
		}
	}
}

// isAsked reports whether a line itself shows that it is about a selected message.
func (w *tracer) isAsked(e *Entry) bool {
	switch {
	case e.ID != nil && w.ids[string(e.ID)]:
		return true
	case w.ID == "" && (isNumber(fieldOf(e.Rest, "source_addr"), w.Number) || isNumber(fieldOf(e.Rest, "destination_addr"), w.Number)):
		return true
	case w.names(e, "receipted_message_id"), e.ID == nil && w.names(e, "message_id"):
		return true
	}
	return e.Received && w.receipt(e)
}

// names reports whether a field has one of the ids.
func (w *tracer) names(e *Entry, field string) bool {
	id := fieldOf(e.Rest, field)
	return len(id) > 0 && (w.peers[string(id)] || w.ids[string(id)])
}

// receipt reports whether a text is a receipt for one of the messages: "id:… sub:…".
func (w *tracer) receipt(e *Entry) bool {
	text, ok := bytes.CutPrefix(fieldOf(e.Rest, "short_message"), []byte("id:"))
	if !ok {
		return false
	}
	id, _, _ := bytes.Cut(text, []byte{' '})
	return w.peers[string(id)]
}

// isNumber reports whether two addresses are equal, except for a leading '+'.
func isNumber(address []byte, number string) bool {
	return len(address) > 0 && string(bytes.TrimPrefix(address, []byte("+"))) == strings.TrimPrefix(number, "+")
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
