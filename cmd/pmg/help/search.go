package help

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pmg/internal/nearest"
)

// most is how many things of a subject are shown.
const most = 20

// An Entry is a thing that can be found by a word.
type Entry struct {
	Name string // words, with any marks between them
	Text string
	Also string // further text in which words are looked for
}

// A Subject is a kind of things, with the command that says more about them.
type Subject struct {
	Title   string
	More    string
	Entries []Entry
}

// AddSearch makes the command help of a program find words in its commands, and in the subjects, that are not names of commands.
func AddSearch(root *cobra.Command, subjects func() []Subject) {
	root.InitDefaultHelpCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "help" })
	h := root.Commands()[i]
	h.Use, h.Short = "help [command or word]", "Help about a command, or about what has a word in its name or text"
	h.Long = "Shows the help of a command. A word that is not one is looked for in commands, their flags, options of the " +
		"configuration, and the documents."
	h.Example = "  " + root.Name() + " help queue list\n  " + root.Name() + " help failover"
	ofCommand := h.Run
	h.Run, h.RunE = nil, func(cmd *cobra.Command, args []string) error {
		word := strings.ToLower(strings.TrimSpace(strings.Join(args, " ")))
		if found, _, err := root.Find(args); word == "" || err == nil && found != root {
			ofCommand(cmd, args)
			return nil
		}
		return search(cmd.OutOrStdout(), word, append([]Subject{Commands(root)}, subjects()...))
	}
}

// An Index finds entries by words. The words of the entries are split only once.
type Index struct {
	subjects []Subject
	keys     [][]key // by subject
}

// A key is what a word is compared with.
type key struct {
	name string // in small letters
	last string // the last word of the name
	text string // the words of the texts with one blank around each
}

// NewIndex returns the index of subjects. It is safe for concurrent use.
func NewIndex(subjects []Subject) *Index {
	x := &Index{subjects: subjects}
	for _, s := range subjects {
		keys := make([]key, len(s.Entries))
		for i, e := range s.Entries {
			keys[i].name, keys[i].text = strings.ToLower(e.Name), spaced(e.Text+" "+e.Also)
			if all := words(e.Name); len(all) > 0 {
				keys[i].last = all[len(all)-1]
			}
		}
		x.keys = append(x.keys, keys)
	}
	return x
}

// Find returns what has a word in its name or text, by subject: what has it in its name first, and not more than is shown of a
// subject.
func (x *Index) Find(word string) (found []Subject) {
	word = strings.ToLower(strings.TrimSpace(word))
	if len(words(word)) == 0 {
		return nil
	}
	for i, s := range x.subjects {
		if all := x.find(i, word); len(all) > 0 {
			found = append(found, Subject{s.Title, s.More, all[:min(len(all), most)]})
		}
	}
	return found
}

// find returns the entries of a subject that have a word: those with the word as their last name first, then in their name, and
// in their text.
func (x *Index) find(subject int, word string) (found []Entry) {
	var ranked [4][]Entry
	spacedWord := spaced(word)
	for i, e := range x.subjects[subject].Entries {
		rank := 0
		switch k := &x.keys[subject][i]; {
		case k.last == word:
			rank = 3
		case strings.Contains(k.name, word):
			rank = 2
		case strings.Contains(k.text, spacedWord):
			rank = 1
		}
		ranked[rank] = append(ranked[rank], e)
	}
	return slices.Concat(ranked[3], ranked[2], ranked[1])
}

// Commands returns the commands of a program, with their flags.
func Commands(root *cobra.Command) Subject {
	s := Subject{Title: "Commands", More: root.Name() + " help COMMAND"}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			e := Entry{Name: sub.CommandPath(), Text: sub.Short, Also: sub.Long}
			sub.LocalFlags().VisitAll(func(f *pflag.Flag) { e.Also += " " + f.Name + " " + f.Usage })
			s.Entries = append(s.Entries, e)
			add(sub)
		}
	}
	add(root)
	return s
}

// search writes what has a word. It returns an error if nothing has it.
func search(w io.Writer, word string, subjects []Subject) error {
	var names []string
	isFound := false
	x := NewIndex(subjects)
	for i, s := range subjects {
		found := x.find(i, word)
		for _, e := range s.Entries {
			names = append(names, words(e.Name)...)
		}
		if len(found) == 0 {
			continue
		}
		isFound = true
		fmt.Fprintf(w, "%s (%s):\n", s.Title, s.More)
		for _, e := range found[:min(len(found), most)] {
			fmt.Fprintf(w, "  %s\n%s\n", e.Name, indent(reflow(e.Text, width-6), "      "))
		}
		if n := len(found) - most; n > 0 {
			fmt.Fprintf(w, "  and %d more\n", n)
		}
		fmt.Fprintln(w)
	}
	if isFound {
		return nil
	}
	err := fmt.Errorf("cannot find %q: no command, flag or option has it", word)
	if near := nearest.Word(word, names); near != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return err
}

// words splits a text at blanks and marks, but for those within names.
func words(text string) (all []string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	}) {
		if word = strings.Trim(word, "-"); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// spaced returns the words of a text with one blank around each.
func spaced(text string) string { return " " + strings.Join(words(text), " ") + " " }
