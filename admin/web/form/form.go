package form

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/managed/editor"
)

// The beginnings of the names of inputs: the value that the user has left, and the value that the page has shown first.
const (
	Now = "o."
	Was = "was."
)

// The kinds of fields, by the input that they need.
const (
	Text    = "text"
	Secret  = "secret"  // the value is never shown; an empty one means that the secret stays
	Choice  = "choice"  // one of Choices
	Several = "several" // any of Choices, joined by between
	Entries = "entries" // several texts, joined by between
)

// between joins the entries of a list in a value.
const between = ", "

// A Field is an option of the object.
type Field struct {
	Name    string // path of the option in the object, such as balance.limit
	Label   string
	Kind    string
	When    string // name of the rule of pmg.css by which the field is shown; "": it always is
	Doc     string
	Facts   string // type, range and default, as pmg config describe prints them
	Choices []Pick
	Value   string
	Was     string
	Hint    string // shown in the input while it is empty
	Wrong   string // reason why the value is refused

	isNumber, isBool bool
	ofPhrases        bool   // entries may have blanks
	standard         string // value that counts if the object does not have the option
}

// A Pick is a value that a field may have.
type Pick struct{ Value, Text string }

// Has reports whether a value of the field is picked.
func (f *Field) Has(value string) bool {
	if f.Kind == Several {
		return slices.Contains(split(f.Value), value)
	}
	return f.Value == value
}

// A Section is a part of the form.
type Section struct {
	Title  string
	Fields []Field
	Rows   *Rows // nil: the section has only fields
}

// A Form is the form for an object of a kind.
type Form struct {
	Kind     string
	Sections []Section
	Profile  string // profile of an account, whose options the form does not show; "": none
}

// New returns a form for an object of a kind of managed.Kinds, without values; it reports false for a kind that has none. A
// configuration defines which names can be chosen.
func New(cfg *config.Config, kind string) (f *Form, ok bool) {
	parts := layout(kind)
	known := map[string]config.Option{}
	for _, o := range config.Describe() {
		known[o.Path] = o
	}
	f = &Form{Kind: kind}
	for _, part := range parts {
		s := Section{Title: part.title}
		for _, one := range part.fields {
			if of := kind + "[]."; one.columns != nil {
				s.Rows = rowsOf(one, of, known, cfg)
			} else {
				s.Fields = append(s.Fields, newField(one, known[of+one.name], cfg))
			}
		}
		f.Sections = append(f.Sections, s)
	}
	return f, parts != nil
}

// newField returns the field of an option.
func newField(e entry, o config.Option, cfg *config.Config) Field {
	f := Field{Name: e.name, Label: e.label, Kind: Text, When: e.when, Doc: o.Doc, Facts: o.Facts(), standard: o.Default,
		ofPhrases: e.ofPhrases}
	if e.doc != "" {
		f.Doc, f.Facts, o.Type = e.doc, e.facts, "number"
	}
	switch {
	case e.isOff:
		f.Kind, f.Choices = Choice, []Pick{{"", "as it is"}, {"off", "switched off"}}
	case e.secret:
		f.Kind = Secret
	case e.picks != nil && e.none != "":
		f.Kind, f.Choices = Choice, append([]Pick{{"", e.none}}, e.picks(cfg)...)
	case e.picks != nil:
		f.Kind, f.Choices = Several, e.picks(cfg)
	case o.Allowed != "" && strings.HasPrefix(o.Type, "word"):
		if f.Kind = Choice; o.Default == "" {
			f.Choices = append(f.Choices, Pick{"", "not given"})
		}
		for _, word := range strings.Split(o.Allowed, between) {
			f.Choices = append(f.Choices, Pick{word, word})
		}
	case o.Type == "true or false":
		f.Kind, f.isBool = Choice, true
		f.Choices = []Pick{{"false", "no"}, {"true", "yes"}}
	case strings.HasPrefix(o.Type, "list of"):
		f.Kind = Entries
	}
	f.isNumber = o.Type == "number"
	return f
}

// each calls a function with each field.
func (f *Form) each(do func(*Field)) {
	for i := range f.Sections {
		for j := range f.Sections[i].Fields {
			do(&f.Sections[i].Fields[j])
		}
	}
}

// eachRows calls a function with each option that is a list of entries.
func (f *Form) eachRows(do func(*Rows)) {
	for i := range f.Sections {
		if r := f.Sections[i].Rows; r != nil {
			do(r)
		}
	}
}

// Show sets the values of the form to those of an object's options.
func (f *Form) Show(o editor.Options) {
	f.Profile, _ = o["profile"].(string)
	f.each(func(one *Field) {
		one.Value = one.of(o)
		one.Was = one.Value
		if one.Kind == Secret && o[one.Name] != nil {
			one.Hint = "when empty it stays"
		}
		isKnown := slices.ContainsFunc(one.Choices, func(p Pick) bool { return p.Value == one.Value })
		if one.Kind == Choice && one.Value != "" && !isKnown {
			one.Choices = append(one.Choices, Pick{one.Value, one.Value})
		}
	})
	f.eachRows(func(r *Rows) { r.show(o) })
}

// of returns the value of a field in an object's options.
func (f *Field) of(o editor.Options) string {
	var v any = map[string]any(o)
	for _, key := range strings.Split(f.Name, ".") {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	if f.Kind == Secret {
		return ""
	}
	switch v := v.(type) {
	case nil:
		if f.Kind == Choice {
			return f.standard
		}
		return ""
	case []any:
		all := make([]string, len(v))
		for i := range v {
			all[i] = fmt.Sprint(v[i])
		}
		return f.clean(strings.Join(all, between))
	default:
		return f.clean(fmt.Sprint(v))
	}
}

// clean returns a value in the form in which values are compared.
func (f *Field) clean(value string) string {
	switch f.Kind {
	case Secret:
		return value
	case Several:
		all := split(value)
		slices.Sort(all)
		return strings.Join(all, between)
	case Entries:
		return strings.Join(f.split(value), between)
	}
	return strings.TrimSpace(value)
}

// split returns the entries of a value of the field.
func (f *Field) split(value string) (all []string) {
	if !f.ofPhrases {
		return split(value)
	}
	for _, one := range strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == '\r' || c == '\n' }) {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// split returns the entries of a list, none of which has a blank.
func split(value string) []string {
	return strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' || c == '\r' || c == '\n' || c == '\t' })
}

// Read sets the values of the form to those of a request.
func (f *Form) Read(v url.Values) {
	f.each(func(one *Field) {
		one.Value = one.clean(strings.Join(v[Now+one.Name], between))
		if one.Kind != Secret {
			one.Was = v.Get(Was + one.Name)
		}
	})
	f.eachRows(func(r *Rows) { r.read(v) })
}

// Rebase changes the form, which was made of older options, to one that was made of o. Fields that the user has not
// changed get the values of o. It returns the changes that o has.
func (f *Form) Rebase(o editor.Options) (theirs []string) {
	f.Profile, _ = o["profile"].(string)
	f.each(func(one *Field) {
		now, was := one.of(o), one.Was
		if one.Was = now; now == was {
			return
		}
		theirs = append(theirs, fmt.Sprintf("%s: %s -> %s", one.Label, shown(was), shown(now)))
		if one.Value == was {
			one.Value = now
		}
	})
	f.eachRows(func(r *Rows) { theirs = append(theirs, r.rebase(o)...) })
	return theirs
}

func shown(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

// Change returns the options that the user has changed, as a merge patch.
func (f *Form) Change() editor.Options {
	patch := editor.Options{}
	f.each(func(one *Field) {
		if one.Value != one.Was {
			set(patch, one.Name, one.option())
		}
	})
	if f.Kind == managed.Accounts {
		f.dropUnused(patch)
	}
	f.eachRows(func(r *Rows) { r.change(patch) })
	return patch
}

// dropUnused removes options that a change of another option leaves without effect, and that would be refused.
func (f *Form) dropUnused(patch editor.Options) {
	values := map[string]*Field{}
	f.each(func(one *Field) { values[one.Name] = one })
	mode, prices, limit := values["balance.mode"], values["prices"], values["balance.limit"]
	switch {
	case prices.Value == "" && prices.Was != "" && mode.Value == mode.Was && f.Profile == "":
		set(patch, mode.Name, nil)
		set(patch, limit.Name, nil)
	case mode.Value != "postpaid" && mode.Value != mode.Was && limit.Value == limit.Was && limit.Was != "":
		set(patch, limit.Name, nil)
	}
}

// option returns the value of a field as a value of a file; nil: the object does not have the option.
func (f *Field) option() any {
	switch {
	case f.Value == "", f.isBool && f.Value == f.standard:
		return nil
	case f.Kind == Several || f.Kind == Entries:
		var all []any
		for _, one := range f.split(f.Value) {
			all = append(all, one)
		}
		return all
	case f.isBool:
		return f.Value == "true"
	case f.isNumber:
		return numberOf(f.Value)
	}
	return f.Value
}

// set sets the option of a path.
func set(o editor.Options, path string, value any) {
	section, key, isNested := strings.Cut(path, ".")
	if !isNested {
		o[section] = value
		return
	}
	inner, ok := o[section].(map[string]any)
	if !ok {
		inner = map[string]any{}
		o[section] = inner
	}
	inner[key] = value
}

// Place assigns the problems of a refused change to their fields. It returns the other problems.
func (f *Form) Place(problems document.Problems) (others document.Problems) {
	for _, p := range problems {
		placed := false
		f.each(func(one *Field) {
			if isAt(p, one.Name) {
				one.Wrong, placed = strings.TrimPrefix(one.Wrong+"; "+p.Message, "; "), true
			}
		})
		f.eachRows(func(r *Rows) {
			if isAt(p, r.Name) {
				r.Wrong, placed = strings.TrimPrefix(r.Wrong+"; "+strings.TrimSpace(p.Path+" "+p.Message), "; "), true
			}
		})
		if !placed {
			others = append(others, p)
		}
	}
	return others
}

// Template returns the options of an object that another one may have, too: all but the name, secrets, keys, and who logs in.
func Template(o editor.Options) editor.Options {
	of := maps.Clone(o)
	for _, key := range append([]string{"system_id", "keys", "users", "oidc"}, config.Secrets()...) {
		delete(of, key)
	}
	return of
}

// isAt reports whether a problem is that of an option, or of an entry of the option, or that the option is missing.
func isAt(p document.Problem, option string) bool {
	rest, ok := strings.CutPrefix(p.Path, option)
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '.') || p.Path == "" && p.Message == "must have "+option
}
