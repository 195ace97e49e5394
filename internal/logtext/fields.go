package logtext

import "bytes"

// Fields are the fields of a PDU of a protocol without octets: as they stand in a line, and the same without texts.
type Fields struct {
	full, hidden []byte
	text         []byte // field "text" of a line that was read
}

// usualSize is the room for the fields of a usual line, in octets.
const usualSize = 256

// begin makes room for usual fields, unless there is room.
func (f *Fields) begin() {
	if f.full == nil {
		room := make([]byte, 2*usualSize)
		f.full, f.hidden = room[:0:usualSize], room[usualSize:usualSize:2*usualSize]
	}
}

// Add adds a field, which is left out if it is empty.
func (f *Fields) Add(name, value string) {
	if value != "" {
		f.begin()
		f.full = AppendValue(AppendName(f.full, name), []byte(value))
		f.hidden = AppendValue(AppendName(f.hidden, name), []byte(value))
	}
}

// AddText adds a field with the text of a message, which is shown where texts are.
func (f *Fields) AddText(name string, value []byte) {
	f.begin()
	f.full = AppendQuoted(AppendName(f.full, name), value)
	f.hidden = AppendHidden(AppendName(f.hidden, name), len(value))
}

// AddParsed adds a field as a line has it. Fields whose names are in texts are texts.
func (f *Fields) AddParsed(field []byte, texts ...string) {
	name, _, _ := bytes.Cut(field, []byte("="))
	for _, t := range texts {
		if string(name) != t {
			continue
		}
		s := NewScanner(field, nil)
		s.Name()
		if text := s.Value(); text != nil {
			if f.AddText(t, text); t == "text" {
				f.text = text
			}
			return
		}
	}
	f.full = append(append(f.full, ' '), field...)
	f.hidden = append(append(f.hidden, ' '), field...)
}

// Append appends the fields; without full, texts are hidden.
func (f *Fields) Append(b []byte, full bool) []byte {
	if full {
		return append(b, f.full...)
	}
	return append(b, f.hidden...)
}

// Text returns the field "text" of a line that was read; nil: the line has no text.
func (f *Fields) Text() []byte { return f.text }

// Reset removes all fields.
func (f *Fields) Reset() { *f = Fields{full: f.full[:0], hidden: f.hidden[:0]} }
