package pdulog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"pmg/internal/logtext"
)

// AppendJSON appends the line as a JSON object and a line end. The fields keep their
// order and have strings as values; a name that occurs more than once has an array.
// text is the message text as Decoder.Text returns it, "" if there is none.
func AppendJSON(b []byte, e *Entry, text string) []byte {
	b = append(b, `{"time":`...)
	b = appendString(b, e.Time.Format(timeLayout))
	b = append(b, `,"connector":`...)
	b = appendString(b, e.Connector)
	b = append(b, `,"instance":`...)
	b = strconv.AppendInt(b, int64(e.Instance), 10)
	b = append(b, `,"direction":`...)
	b = appendString(b, e.Direction())
	b = append(b, `,"command":`...)
	b = appendString(b, e.Command)
	if n, ok := e.Sequence(); ok {
		b = append(b, `,"sequence":`...)
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	if s, ok := e.Status(); ok {
		b = append(b, `,"status":`...)
		b = strconv.AppendUint(b, uint64(s.Value), 10)
		if s.Name != "" {
			b = append(b, `,"status_name":`...)
			b = appendString(b, s.Name)
		}
	}
	if e.ID != nil {
		b = append(b, `,"id":`...)
		b = appendString(b, string(e.ID))
	}
	if e.Account != nil {
		b = append(b, `,"account":`...)
		b = appendString(b, unquote(e.Account))
	}
	if text != "" {
		b = append(b, `,"text":`...)
		b = appendString(b, text)
	}
	b = append(b, `,"fields":{`...)
	b = appendFields(b, e.Rest)
	return append(b, "}}\n"...)
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
