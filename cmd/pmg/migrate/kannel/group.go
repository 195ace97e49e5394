package kannel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// A notebook is what comments are written to: an entry of the draft, or the draft itself.
type notebook interface {
	Tell(format string, args ...any)
	Decide(format string, args ...any)
}

// A group is a group whose options are taken one by one. Those that nothing has taken become comments.
type group struct {
	kind, at string
	names    []string // in the order of the file
	values   map[string]string
	taken    map[string]bool
	notes    notebook // for what is wrong with a value
}

// newGroup returns a group. Of an option that is given twice the last one counts, as for Kannel.
func newGroup(of *Group, notes notebook) *group {
	g := &group{kind: of.Kind, at: of.At, values: map[string]string{}, taken: map[string]bool{}, notes: notes}
	for _, o := range of.Options {
		if before, twice := g.values[o.Name]; !twice {
			g.names = append(g.names, o.Name)
		} else if before != o.Value {
			notes.Decide("%s is given twice: the one in %s counts, as for Kannel", o.Name, o.At)
		}
		g.values[o.Name] = o.Value
	}
	return g
}

// take returns the value of an option, or "".
func (g *group) take(name string) string {
	g.taken[name] = true
	return g.values[name]
}

// given reports whether an option has a value.
func (g *group) given(name string) bool { return g.values[name] != "" }

// text returns an option with its value, for a comment. A password is not shown.
func (g *group) text(name string) string {
	if strings.Contains(name, "pass") || strings.Contains(name, "secret") {
		return name
	}
	return fmt.Sprintf("%s = %q", name, g.values[name])
}

// number takes a number, in any base that C reads. It reports false if there is none.
func (g *group) number(name string, least, most int64) (int64, bool) {
	s := strings.TrimSpace(g.take(name))
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil || n < least || n > most {
		g.notes.Decide("%s is not a number from %d to %d: it is left out", g.text(name), least, most)
		return 0, false
	}
	return n, true
}

// real takes a number that may have a fraction.
func (g *group) real(name string) (float64, bool) {
	s := strings.TrimSpace(g.take(name))
	if s == "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1e6 {
		g.notes.Decide("%s is not a number from 0 to 1000000: it is left out", g.text(name))
		return 0, false
	}
	return f, true
}

// is takes a word that says yes or no: any other than the words for no says yes, as for Kannel.
func (g *group) is(name string, otherwise bool) bool {
	switch strings.ToLower(g.take(name)) {
	case "":
		return otherwise
	case "no", "false", "off", "0":
		return false
	}
	return true
}

// list takes a list of words with semicolons between them.
func (g *group) list(name string) (words []string) {
	for word := range strings.SplitSeq(g.take(name), ";") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// rest writes a comment for each option that nothing has taken: why it has no effect, by the table.
func (g *group) rest(notes notebook) {
	rows := map[string]draft.Row{}
	for _, r := range Table() {
		if r.Group == g.kind {
			rows[r.Option] = r
		}
	}
	for _, name := range g.names {
		r, known := rows[name]
		switch {
		case g.taken[name]:
		case !known:
			notes.Decide("%s: pmg import does not know this option of a group %s", g.text(name), g.kind)
		case r.To != "":
			notes.Tell("%s: has no effect here", g.text(name))
		case r.Decide:
			notes.Decide("%s: %s", g.text(name), r.Why)
		default:
			notes.Tell("%s: %s", g.text(name), r.Why)
		}
	}
}
