package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"pmg/config"
	"pmg/config/managed/editor"
)

// Rows are an option with a list of entries, such as the users of an account, in rows of the form.
type Rows struct {
	Name, Title string
	Doc         string
	Columns     []Column
	Rows        [][]string // a value for each column; the last rows are empty
	Was         string
	Wrong       string
}

// A Column is an option of each entry.
type Column struct {
	Key, Label string
	Kind       string // Text, Secret or Choice; a secret that is left empty stays what it was
	Choices    []Pick

	isNumber bool
	isBool   bool
	isOff    bool // a secret that can only be switched off here
	isName   bool // a row without names is empty
}

// moreRows is the number of empty rows, mostRows the maximum number of all.
const (
	moreRows = 2
	mostRows = 1000
)

// rowsOf returns rows for an option that is a list of entries. known are the described options, below the path of.
func rowsOf(e entry, of string, known map[string]config.Option, cfg *config.Config) *Rows {
	r := &Rows{Name: e.name, Title: e.label, Doc: cmp.Or(e.doc, known[of+e.name].Doc)}
	for _, one := range e.columns {
		f := newField(one, known[of+e.name+"[]."+one.name], cfg)
		c := Column{
			Key: one.name, Label: one.label, Kind: f.Kind, Choices: f.Choices,
			isNumber: f.isNumber, isBool: f.isBool, isOff: one.isOff, isName: one.isName,
		}
		r.Columns = append(r.Columns, c)
	}
	r.addRows()
	return r
}

// fill adds the rows of an option, and empty ones.
func (r *Rows) fill(o editor.Options) {
	r.Rows = r.of(o)
	r.addRows()
}

func (r *Rows) addRows() {
	for range moreRows {
		row := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			if c.Kind == Choice {
				row[i] = c.Choices[0].Value
			}
		}
		r.Rows = append(r.Rows, row)
	}
}

// isEmpty reports whether a row has no name.
func (r *Rows) isEmpty(row []string) bool {
	for i, c := range r.Columns {
		if c.isName && row[i] != "" {
			return false
		}
	}
	return true
}

// text returns the rows as a value of the form, without secrets.
func (r *Rows) text(rows [][]string) string {
	var all []string
	for _, row := range rows {
		if r.isEmpty(row) {
			continue
		}
		var words []string
		for i, c := range r.Columns {
			if row[i] == "" || c.Kind == Secret || c.isBool && row[i] == "false" {
				continue
			}
			word := row[i]
			if i > 0 {
				word = strings.ToLower(c.Label) + " " + word
			}
			words = append(words, word)
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, between)
}

// of returns the rows of an option. An entry that is a text has the first column alone.
func (r *Rows) of(o editor.Options) (rows [][]string) {
	list, isList := o[r.Name].([]any)
	if !isList && o[r.Name] != nil {
		list = []any{o[r.Name]}
	}
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			m = map[string]any{r.Columns[0].Key: v}
		}
		row := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			switch value := m[c.Key]; {
			case value != nil && c.Kind != Secret && !c.isOff:
				row[i] = fmt.Sprint(value)
			case c.Kind == Choice:
				row[i] = c.Choices[0].Value
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *Rows) show(o editor.Options) {
	r.fill(o)
	r.Was = r.text(r.Rows)
	for _, row := range r.Rows {
		for i := range r.Columns { // a value that is no choice, such as a connector that was removed, stays one
			c := &r.Columns[i]
			if c.Kind == Choice && !slices.ContainsFunc(c.Choices, func(p Pick) bool { return p.Value == row[i] }) {
				c.Choices = append(c.Choices, Pick{row[i], row[i]})
			}
		}
	}
}

func (r *Rows) read(v url.Values) {
	r.Was, r.Rows = v.Get(Was+r.Name), nil
	n := mostRows
	for _, c := range r.Columns {
		n = min(n, len(v[Now+r.Name+"."+c.Key]))
	}
	for i := range n {
		row := make([]string, len(r.Columns))
		for j, c := range r.Columns {
			if row[j] = v[Now+r.Name+"."+c.Key][i]; c.Kind != Secret {
				row[j] = strings.TrimSpace(row[j])
			}
		}
		if !r.isEmpty(row) {
			r.Rows = append(r.Rows, row)
		}
	}
	r.addRows()
}

// isChanged reports whether the user has changed the rows.
func (r *Rows) isChanged() bool {
	return r.text(r.Rows) != r.Was || slices.ContainsFunc(r.Rows, func(row []string) bool {
		for i, c := range r.Columns {
			if c.Kind == Secret && row[i] != "" && !r.isEmpty(row) {
				return true
			}
		}
		return false
	})
}

func (r *Rows) rebase(o editor.Options) (theirs []string) {
	now, was := r.text(r.of(o)), r.Was
	isChanged := r.isChanged()
	if r.Was = now; now == was {
		return nil
	}
	if !isChanged {
		r.fill(o)
	}
	return []string{r.Title + ": " + shown(was) + " -> " + shown(now)}
}

func (r *Rows) change(patch editor.Options) {
	if !r.isChanged() {
		return
	}
	var all []any
	for _, row := range r.Rows {
		if r.isEmpty(row) {
			continue
		}
		m := map[string]any{}
		for i, c := range r.Columns {
			switch {
			case row[i] == "" || c.isBool && row[i] == "false":
			case c.isOff:
				m[c.Key] = nil
			case c.isBool:
				m[c.Key] = true
			case c.isNumber:
				m[c.Key] = numberOf(row[i])
			default:
				m[c.Key] = row[i]
			}
		}
		all = append(all, m)
	}
	if patch[r.Name] = nil; len(all) > 0 {
		patch[r.Name] = all
	}
}

// numberOf returns a whole number as a number, and another text as it is, which is refused later.
func numberOf(text string) any {
	if n, err := json.Number(text).Int64(); err == nil {
		return json.Number(fmt.Sprint(n))
	}
	return text
}
