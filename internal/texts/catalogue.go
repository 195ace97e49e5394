package texts

import (
	"bytes"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed languages/*.json
var shippedFiles embed.FS

// english is the language of the keys.
const english = "en"

// nameKey is the key of the name of a language, in that language.
const nameKey = "English|the name of the language itself"

// words are the texts in one language.
type words struct {
	tag   language.Tag
	texts map[string]forms
	wider *words // language of what this one lacks; nil: that is English
}

// A Catalogue has texts in several languages. It does not change.
type Catalogue struct {
	all     []*words // English first
	keys    []string // all keys, sorted
	matcher language.Matcher
}

// A Language is a language of a catalogue.
type Language struct{ Tag, Name string }

// Shipped returns the texts that come with the program.
func Shipped() *Catalogue {
	files, err := shippedFiles.ReadDir("languages")
	if err != nil {
		panic(err) // the directory is embedded
	}
	texts, keys := map[language.Tag]map[string]forms{}, map[string]bool{}
	for _, f := range files {
		data, err := shippedFiles.ReadFile("languages/" + f.Name())
		if err != nil {
			panic(err) // so is the file
		}
		tag := language.MustParse(strings.TrimSuffix(f.Name(), ".json"))
		if texts[tag], err = read(data); err != nil {
			panic(err) // and tests read it
		}
		for key := range texts[tag] {
			keys[key] = true
		}
	}
	return newCatalogue(texts, slices.Sorted(maps.Keys(keys)))
}

func newCatalogue(texts map[language.Tag]map[string]forms, keys []string) *Catalogue {
	c := &Catalogue{keys: keys}
	of := map[language.Tag]*words{}
	for tag, all := range texts {
		of[tag] = &words{tag: tag, texts: all}
		c.all = append(c.all, of[tag])
	}
	rank := func(w *words) string { // English first, because it is for those who understand none of the languages
		return strings.TrimPrefix(w.tag.String(), english)
	}
	slices.SortFunc(c.all, func(a, b *words) int { return strings.Compare(rank(a), rank(b)) })
	tags := make([]language.Tag, len(c.all))
	for i, w := range c.all {
		for t := w.tag; w.wider == nil && !t.IsRoot(); {
			t = t.Parent()
			w.wider = of[t]
		}
		if w.wider == nil && i > 0 {
			w.wider = c.all[0]
		}
		tags[i] = w.tag
	}
	c.matcher = language.NewMatcher(tags)
	return c
}

// Keys returns all keys, sorted.
func (c *Catalogue) Keys() []string { return slices.Clone(c.keys) }

// Languages returns all languages, English first.
func (c *Catalogue) Languages() []Language {
	all := make([]Language, len(c.all))
	for i, w := range c.all {
		all[i] = Language{w.tag.String(), w.tag.String()}
		if name, ok := w.texts[nameKey]; ok {
			all[i].Name = name.of(w, nil)
		} else if i == 0 {
			all[i].Name = "English"
		}
	}
	return all
}

// In returns the printer of a language that the catalogue has.
func (c *Catalogue) In(tag string) (p Printer, ok bool) {
	i := slices.IndexFunc(c.all, func(w *words) bool { return w.tag.String() == tag })
	if i < 0 {
		return Printer{c.all[0]}, false
	}
	return Printer{c.all[i]}, true
}

// File returns all texts in a language that the catalogue has, as a file from which another one can be made. What the language
// lacks is there in English.
func (c *Catalogue) File(tag string) (data []byte, ok bool) {
	p, ok := c.In(tag)
	all := map[string]any{}
	for _, key := range c.keys {
		f, _ := p.find(key)
		of := map[string]string{}
		for name, form := range formNames() {
			if f[form] != "" {
				of[name] = f[form]
			}
		}
		if all[key] = of; len(of) == 1 {
			all[key] = f[plural.Other]
		}
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	_ = out.Encode(all) // texts can always be written
	return b.Bytes(), ok
}

// mostAccepted is how many octets of a header are read.
const mostAccepted = 500

// Choose returns the printer of the language that fits a header Accept-Language best, English if none does, or if the header is
// too long or cannot be read.
func (c *Catalogue) Choose(accepted string) Printer {
	if len(accepted) > mostAccepted {
		return Printer{c.all[0]}
	}
	tags, _, err := language.ParseAcceptLanguage(accepted)
	if err != nil {
		return Printer{c.all[0]}
	}
	_, i, _ := c.matcher.Match(tags...)
	return Printer{c.all[i]}
}

// Only returns the keys that a language itself has, sorted.
func (c *Catalogue) Only(tag string) []string {
	p, ok := c.In(tag)
	if !ok {
		return nil
	}
	return slices.Sorted(maps.Keys(p.in.texts))
}
