package texts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"pmg/internal/nearest"
)

// Limits of files of languages.
const (
	MostOctets = 512 << 10 // of a file
	MostFiles  = 50

	mostText     = 4000 // octets of a text
	mostProblems = 10   // of a file; a proposal for each takes a moment
)

// A Problem is what is wrong with a file.
type Problem struct{ File, Text string }

// With returns the catalogue with the texts of further files, by their names, which are LANG.json. They change the languages that
// are there, and add others. Nothing is taken of a file with a problem.
func (c *Catalogue) With(files map[string][]byte) (*Catalogue, []Problem) {
	texts := map[language.Tag]map[string]forms{}
	for _, w := range c.all {
		texts[w.tag] = maps.Clone(w.texts)
	}
	var all []Problem
	for _, name := range slices.Sorted(maps.Keys(files)) {
		tag, read, wrong := c.check(name, files[name])
		for _, text := range wrong {
			all = append(all, Problem{name, text})
		}
		if len(wrong) > 0 {
			continue
		}
		if texts[tag] == nil {
			texts[tag] = map[string]forms{}
		}
		maps.Copy(texts[tag], read)
	}
	return newCatalogue(texts, c.keys), all
}

// IsLanguage reports whether a text is the tag of a language, as names of files have it.
func IsLanguage(text string) bool {
	tag, err := language.Parse(text)
	return err == nil && tag.String() == text && !tag.IsRoot()
}

// check reads a file, and returns what is wrong with it.
func (c *Catalogue) check(name string, data []byte) (tag language.Tag, texts map[string]forms, wrong []string) {
	text, isJSON := strings.CutSuffix(name, ".json")
	tag, err := language.Parse(text)
	switch {
	case !isJSON, err != nil, tag.IsRoot():
		return tag, nil, []string{"must have the name of a language, such as fr.json or pt-BR.json"}
	case tag.String() != text:
		return tag, nil, []string{"must have the name " + tag.String() + ".json"}
	}
	if texts, err = read(data); err != nil {
		return tag, nil, []string{"cannot be read: " + err.Error()}
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if len(wrong) == mostProblems {
			return tag, nil, append(wrong, "has more problems")
		}
		if _, ok := slices.BinarySearch(c.keys, key); !ok {
			wrong = append(wrong, c.propose(key))
		} else if why := wrongForms(key, texts[key]); why != "" {
			wrong = append(wrong, fmt.Sprintf("the text of %q %s", key, why))
		}
	}
	return tag, texts, wrong
}

// propose says that a key is unknown, and which one it may be.
func (c *Catalogue) propose(key string) string {
	if len(key) > mostText {
		return fmt.Sprintf("no text of the pages begins with %q", key[:40])
	}
	near := nearest.Word(key, c.keys)
	if near == "" { // a key of which a part was written
		i := slices.IndexFunc(c.keys, func(k string) bool { return key != "" && strings.HasPrefix(k, key) })
		if i >= 0 {
			near = c.keys[i]
		}
	}
	if near == "" {
		return fmt.Sprintf("%q is no text of the pages", key)
	}
	return fmt.Sprintf("%q is no text of the pages: did you mean %q?", key, near)
}

// wrongForms returns what is wrong with the text of a key, "" if nothing is.
func wrongForms(key string, f forms) string {
	isCount := false
	for p := range places(key) {
		isCount = isCount || strings.HasSuffix(p, "d")
	}
	for form, text := range f {
		if text == "" && plural.Form(form) != plural.Other {
			continue
		}
		if plural.Form(form) != plural.Other && !isCount {
			return "must be one, because the key has no count (%d)"
		}
		if why := wrongText(key, text); why != "" {
			return why
		}
	}
	return ""
}

func wrongText(key, text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "must not be empty: without its key it stays English"
	case len(text) > mostText:
		return fmt.Sprintf("must have %d octets at most", mostText)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "must not have control characters"
	case !maps.Equal(places(key), places(text)):
		return "must have the places of the key: " + strings.Join(place.FindAllString(key, -1), " ")
	case links(key) != links(text):
		return "must have as many parts in brackets as the key"
	}
	return ""
}

// links returns the number of the parts of a text that lead to other pages, -1 if one does not end.
func links(text string) (n int) {
	text = place.ReplaceAllString(text, "")
	for {
		_, rest, found := strings.Cut(text, "[")
		if !found {
			return n
		}
		if _, text, found = strings.Cut(rest, "]"); !found {
			return -1
		}
		n++
	}
}
