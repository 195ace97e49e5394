package pdulog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"pmg/internal/logtext"
)

// A jsonLine is a line as a JSON object.
type jsonLine struct {
	Time       string          `json:"time"`
	Connector  string          `json:"connector"`
	Instance   int             `json:"instance"`
	Direction  string          `json:"direction"`
	Command    string          `json:"command"`
	Sequence   *uint32         `json:"sequence,omitempty"`
	Status     *uint32         `json:"status,omitempty"`
	StatusName string          `json:"status_name,omitempty"`
	ID         string          `json:"id,omitempty"`
	Account    string          `json:"account,omitempty"`
	Text       string          `json:"text,omitempty"`
	Fields     json.RawMessage `json:"fields"`
}

// AppendJSON appends the line as a JSON object and a line end. The fields keep their order and have strings
// as values; a name that occurs more than once has an array. text is the message text as Decoder.Text returns
// it, "" if the line has no text.
func AppendJSON(b []byte, e *Entry, text string) []byte {
	l := jsonLine{
		Time: e.Time.Format(timeLayout), Connector: e.Connector, Instance: e.Instance, Direction: e.Direction(),
		Command: e.Command,
		ID:      string(e.ID), Account: unquote(e.Account), Text: text, Fields: append(appendFields([]byte{'{'}, e.Rest), '}'),
	}
	if n, ok := e.Sequence(); ok {
		l.Sequence = &n
	}
	if s, ok := e.Status(); ok {
		l.Status, l.StatusName = &s.Value, s.Name
	}
	j, _ := json.Marshal(&l) // never fails; see appendString
	return append(append(b, j...), '\n')
}

// appendFields appends the members of an object.
func appendFields(b, rest []byte) []byte {
	var names []string
	values := map[string][]string{}
	for len(rest) > 0 {
		var field []byte
		field, rest = logtext.NextField(rest)
		n, v, _ := bytes.Cut(field, []byte{'='})
		name := string(n)
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], unquote(v))
	}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		if v := values[name]; len(v) == 1 {
			b = appendString(b, v[0])
		} else {
			j, _ := json.Marshal(v) // never fails; see appendString
			b = append(b, j...)
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	j, _ := json.Marshal(s) // a string always has a JSON form
	return append(b, j...)
}

// unquote removes the quotation marks and escapes of a value. A value whose bytes are no
// valid text keeps its escapes, because JSON cannot hold such bytes.
func unquote(value []byte) string {
	if s, err := strconv.Unquote(string(value)); err == nil && utf8.ValidString(s) {
		return s
	}
	return string(value)
}
