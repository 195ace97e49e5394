// Package draft is a configuration of PMG that is translated from another program's configuration: its entries, with comments,
// some of which need a person's decision.
//
// # Start reading
//
// Draft and Entry, then Bytes (write.go).
package draft

import (
	"fmt"
	"strings"
)

// A Draft is a configuration. Its lists are in the order of the file.
type Draft struct {
	Title    string   // the first line of the file
	Sections []*Entry // sections such as admin, each with a name; single options have no name
	Accounts, Connectors,
	Routes []*Entry
	Remarks []Remark // remarks that belong to no entry
}

// A Remark is a comment in the file. With Decide it needs a person's decision.
type Remark struct {
	Text   string
	Decide bool
}

// An Entry is a section, or an entry of a list, with its comments.
type Entry struct {
	Name    string // name of a section
	From    string // the source of the entry, and its position in the file
	Remarks []Remark
	Fields  []Field
}

// A Field is an option. Its value is a string, a Word, an int, a bool, a list of strings, a Flow, or a list of those.
type Field struct {
	Key   string
	Value any
}

// A Word is a value without quotes: a word of PMG, or a duration.
type Word string

// A Flow is a section on one line: {out: source, ton: 1}.
type Flow []Field

// Set adds an option.
func (e *Entry) Set(key string, value any) { e.Fields = append(e.Fields, Field{key, value}) }

// Add adds a value to an option that is a list of sections.
func (e *Entry) Add(key string, value Flow) {
	for i := range e.Fields {
		if e.Fields[i].Key == key {
			e.Fields[i].Value = append(e.Fields[i].Value.([]Flow), value)
			return
		}
	}
	e.Set(key, []Flow{value})
}

// Get returns the value of an option, or nil.
func (e *Entry) Get(key string) any {
	for _, f := range e.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// Tell adds a comment.
func (e *Entry) Tell(format string, args ...any) {
	e.Remarks = append(e.Remarks, Remark{Text: fmt.Sprintf(format, args...)})
}

// Decide adds a comment that needs a person's decision.
func (e *Entry) Decide(format string, args ...any) {
	e.Remarks = append(e.Remarks, Remark{fmt.Sprintf(format, args...), true})
}

// Tell adds a comment that belongs to no entry.
func (d *Draft) Tell(format string, args ...any) {
	d.Remarks = append(d.Remarks, Remark{Text: fmt.Sprintf(format, args...)})
}

// Decide adds a comment that belongs to no entry, and that needs a person's decision.
func (d *Draft) Decide(format string, args ...any) {
	d.Remarks = append(d.Remarks, Remark{fmt.Sprintf(format, args...), true})
}

// Section returns the section with a name. If there is no such section, it adds one.
func (d *Draft) Section(name string) *Entry {
	for _, e := range d.Sections {
		if e.Name == name {
			return e
		}
	}
	e := &Entry{Name: name}
	d.Sections = append(d.Sections, e)
	return e
}

// Decisions returns the number of comments that need a decision.
func (d *Draft) Decisions() (n int) {
	count := func(remarks []Remark) {
		for _, remark := range remarks {
			if remark.Decide {
				n++
			}
		}
	}
	count(d.Remarks)
	for _, list := range [][]*Entry{d.Sections, d.Accounts, d.Connectors, d.Routes} {
		for _, e := range list {
			count(e.Remarks)
		}
	}
	return n
}

// longestName is the maximum length of a connector's name.
const longestName = 64

// SystemID is the maximum length of a system_id without the option long_system_ids.
const SystemID = 15

// Name returns a valid name of a connector that is not among names: the wanted name if possible.
func Name(wanted string, names map[string]bool) string {
	clean := strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r == '-' || r == '_') {
			return r
		}
		return '-'
	}, wanted), "-_")
	if clean == "" {
		clean = "unnamed"
	}
	clean = clean[:min(len(clean), longestName-6)]
	name := clean
	for n := 2; names[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d", clean, n)
	}
	names[strings.ToLower(name)] = true
	return name
}
