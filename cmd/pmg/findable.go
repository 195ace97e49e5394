package main

import (
	"strings"
	"sync"

	"pmg/admin/web"
	"pmg/cmd/pmg/help"
	"pmg/config"
	"pmg/docs"
)

// mostExcerpt is how much of a section is shown in a list, in octets.
const mostExcerpt = 200

// documented returns the sections of the documents. Those about options are left out, because the options themselves are found.
func documented() help.Subject {
	s := help.Subject{Title: "Documents", More: "docs, or the page Help of the operators' pages"}
	for _, one := range docs.Sections() {
		if one.File == "config.md" {
			continue
		}
		excerpt, _, _ := strings.Cut(one.Text, "\n\n")
		if len(excerpt) > mostExcerpt {
			excerpt = strings.ToValidUTF8(excerpt[:mostExcerpt], "") + "…"
		}
		s.Entries = append(s.Entries, help.Entry{Name: one.Title + " (docs/" + one.File + ")", Text: excerpt, Also: one.Text})
	}
	return s
}

// newHelpFinder returns the function that finds what the page Help shows of a word. The documents are read by its first call.
func newHelpFinder() func(word string) []web.Found {
	index := sync.OnceValue(func() *help.Index {
		return help.NewIndex(append([]help.Subject{help.Commands(newRootCommand())}, findable()...))
	})
	return func(word string) (all []web.Found) {
		for _, s := range index().Find(word) {
			for _, e := range s.Entries {
				all = append(all, web.Found{Subject: s.Title, Name: e.Name, Text: e.Text, Whole: e.Also})
			}
		}
		return all
	}
}

// findable returns what pmg help finds by a word besides commands.
func findable() []help.Subject {
	s := help.Subject{Title: "Options", More: "pmg config describe OPTION"}
	for _, o := range config.Describe() {
		s.Entries = append(s.Entries, help.Entry{Name: o.Path, Text: o.Sentence(), Also: o.Doc})
	}
	return []help.Subject{s, documented()}
}
