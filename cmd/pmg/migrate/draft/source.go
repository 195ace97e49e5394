package draft

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Remarker receives comments: it is an entry of a draft, or the draft itself.
type Remarker interface {
	Tell(format string, args ...any)
	Decide(format string, args ...any)
}

// A Source is a group of options of another program. They are taken one by one; options that were not taken become comments.
type Source struct {
	Kind, At string   // Kind selects the rows of the table that translate the options; At is the position in the file
	Remarks  Remarker // receives remarks about wrong values
	names    []string // in order of the file
	values   map[string]string
	taken    map[string]bool
}

// NewSource returns a group without options.
func NewSource(kind, at string, remarks Remarker) *Source {
	return &Source{Kind: kind, At: at, Remarks: remarks, values: map[string]string{}, taken: map[string]bool{}}
}

// Put adds an option, or changes its value. It returns the earlier value.
func (g *Source) Put(name, value string) (before string, twice bool) {
	if before, twice = g.values[name]; !twice {
		g.names = append(g.names, name)
	}
	g.values[name] = value
	return before, twice
}

// Names returns the names of the options, in the order in which they were put.
func (g *Source) Names() []string { return g.names }

// Has reports whether an option exists, even without a value.
func (g *Source) Has(name string) bool {
	_, ok := g.values[name]
	return ok
}

// Take returns the value of an option, or "".
func (g *Source) Take(name string) string {
	g.taken[name] = true
	return g.values[name]
}

// Value returns the value of an option without taking it.
func (g *Source) Value(name string) string { return g.values[name] }

// Given reports whether an option has a value.
func (g *Source) Given(name string) bool { return g.values[name] != "" }

// Text returns an option with its value, for a comment. A password is not shown.
func (g *Source) Text(name string) string {
	if strings.Contains(name, "pass") || strings.Contains(name, "secret") {
		return name
	}
	return fmt.Sprintf("%s = %q", name, g.values[name])
}

// Number takes a number, in any base that C reads. It reports false if there is no number.
func (g *Source) Number(name string, least, most int64) (int64, bool) {
	s := strings.TrimSpace(g.Take(name))
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil || n < least || n > most {
		g.Remarks.Decide("%s is not a number from %d to %d: it is left out", g.Text(name), least, most)
		return 0, false
	}
	return n, true
}

// mostReal is the limit of a number that may have a fraction: as seconds, more than a year.
const mostReal = 1e8

// Real takes a number that may have a fraction.
func (g *Source) Real(name string) (float64, bool) {
	s := strings.TrimSpace(g.Take(name))
	if s == "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > mostReal {
		g.Remarks.Decide("%s is not a number from 0 to %.0f: it is left out", g.Text(name), mostReal)
		return 0, false
	}
	return f, true
}

// Is takes a boolean: any word other than those for no is true, as for Kannel.
func (g *Source) Is(name string, otherwise bool) bool {
	switch strings.ToLower(g.Take(name)) {
	case "":
		return otherwise
	case "no", "false", "off", "0":
		return false
	}
	return true
}

// List takes a list of words with semicolons between them.
func (g *Source) List(name string) (words []string) {
	for word := range strings.SplitSeq(g.Take(name), ";") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// Rest writes a comment for each option that was not taken, with the reason from the table.
func (g *Source) Rest(remarks Remarker, table []Row) {
	rows := map[string]Row{}
	for _, r := range table {
		if r.Group == g.Kind {
			rows[r.Option] = r
		}
	}
	for _, name := range g.names {
		r, known := rows[name]
		switch {
		case g.taken[name]:
		case !known:
			remarks.Decide("%s: pmg import does not know this option of %s", g.Text(name), g.Kind)
		case r.To != "":
			remarks.Tell("%s: has no effect here", g.Text(name))
		case r.Decide:
			remarks.Decide("%s: %s", g.Text(name), r.Why)
		default:
			remarks.Tell("%s: %s", g.Text(name), r.Why)
		}
	}
}
