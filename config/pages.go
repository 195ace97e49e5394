package config

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pmg/internal/texts"
)

// Pages are what the pages for customers have beside what the API shows.
type Pages struct {
	Inbox time.Duration `yaml:"inbox" default:"0s" range:"0s..8760h" live:"yes" doc:"How long the texts of messages from mobiles are kept for the page Inbox (docs/portal.md), such as 720h; 0s keeps none. With it, an account that gets such messages neither by a session nor by webhook or pull gets them by this page alone."`

	Language string `yaml:"language" live:"yes" doc:"The language of its pages for users who have chosen none, such as de; that of the browser when empty (docs/portal.md)."`

	Templates []TextTemplate `yaml:"templates" live:"yes" doc:"Texts that its users choose on the pages Send and Mailing, 100 at most, each as {name: late, text: \"We are late, {name}.\"}."`
}

// InboxLane is the endpoint of an account whose inbox alone gets its messages from mobiles.
const InboxLane = "inbox"

// MobilesTo returns the endpoint for messages from mobiles if the account gets them by no session: as EventsTo, or InboxLane.
func (a *Account) MobilesTo() string {
	if to := a.EventsTo(); to != "" || a.Logins.Pages.Inbox == 0 {
		return to
	}
	return InboxLane
}

// checkInbox checks the inbox of an account: its texts must be kept.
func checkInbox(d *decoder, a *Account, path string, s *Store) {
	if a.Logins.Pages.Inbox > 0 && s.Engine == MemoryStore {
		d.problem(path+".inbox", "must be 0s with store.engine: memory, which keeps no texts: use pebble")
	}
}

// checkLanguage checks the language of an account's pages.
func checkLanguage(d *decoder, a *Account, path string) {
	if tag := a.Logins.Pages.Language; tag != "" && !texts.IsLanguage(tag) {
		d.problem(path+".language", "must be the tag of a language, such as de or pt-BR, not %q", tag)
	}
}

// TextTemplate is a text with a name.
type TextTemplate struct {
	Name string `yaml:"name" required:"yes" live:"yes" doc:"How the text is found, such as order ready; 64 characters at most."`
	Text string `yaml:"text" required:"yes" lines:"yes" live:"yes" doc:"The text, 1600 characters at most. In a mailing {name} stands for the field of column name."`
}

// Limits of templates.
const (
	MaxTemplates = 100 // of an account
	maxTemplate  = 1600
	maxTitle     = 64
)

// Check returns the option of a template that is wrong, and why; "": none is.
func (t *TextTemplate) Check() (option, why string) {
	switch {
	case isWrongText(t.Name, maxTitle, false) || strings.TrimSpace(t.Name) != t.Name:
		return "name", fmt.Sprintf("must have 1 to %d characters, without blanks around them", maxTitle)
	case isWrongText(t.Text, maxTemplate, true):
		return "text", fmt.Sprintf("must have 1 to %d characters, without control characters and ${", maxTemplate)
	}
	return "", ""
}

// isWrongText reports whether a text is blank, too long, or cannot stand in a configuration, which takes ${ for a variable.
func isWrongText(text string, most int, lines bool) bool {
	return strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > most || strings.Contains(text, "${") ||
		strings.ContainsFunc(text, isControl(lines))
}

// isControl returns a function that reports whether a character is a control character. With lines, line ends are none.
func isControl(lines bool) func(rune) bool {
	return func(c rune) bool { return unicode.IsControl(c) && (c != '\n' || !lines) }
}

// checkTemplates checks the templates of an account.
func checkTemplates(d *decoder, a *Account, path string) {
	all := a.Logins.Pages.Templates
	if len(all) > MaxTemplates {
		d.problem(path+".templates", "must have %d entries at most, not %d", MaxTemplates, len(all))
		return
	}
	names := map[string]int{}
	for i := range all {
		d.unique(names, all[i].Name, path+".templates[%d].name", i)
		if all[i].Name == "" || all[i].Text == "" {
			continue // required has said so
		}
		if option, why := all[i].Check(); why != "" {
			d.problem(fmt.Sprintf("%s.templates[%d].%s", path, i, option), "%s", why)
		}
	}
}
