package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// List is a register of numbers in a file.
type List struct {
	Name string `yaml:"name" required:"yes" live:"yes" doc:"Its name in block, allow and senders, in logs and metrics: letters, digits, '-' and '_'."`
	File string `yaml:"file" required:"yes" live:"yes" doc:"Its file: a number, a prefix such as 4670* or a sender's name in each line; what follows a '#' is a comment. A relative path is relative to the configuration. The gateway reads the file again when it has changed; pmg list check reads it before. What pmg list add and remove change is written to a file beside it, with the ending .changes, so the gateway's user must be able to write to the directory."`

	OptOutFrom []string `yaml:"opt_out_from" live:"yes" doc:"Out connectors by whose messages from mobiles the list changes: a text that is a word of stop adds its sender, one of start removes it, on disk before the SMSC is answered. Then the message goes on as usual. None when empty."`
	OptOutTo   []string `yaml:"opt_out_to" live:"yes" doc:"The numbers and short codes that such messages must be for, each in full; any when empty."`
	Stop       []string `yaml:"stop" default:"STOP, STOPP, STOPALL, UNSUBSCRIBE, CANCEL, END, QUIT, ARRET, ARRÊT, BAJA, PARAR" live:"yes" doc:"Words that add the sender, in any letter case. The text must have nothing else but blanks, quotes and marks at its end."`
	Start      []string `yaml:"start" default:"START, UNSTOP" live:"yes" doc:"Words that remove it."`
}

// Screening is which numbers may be sent to, or may send.
type Screening struct {
	Block []string `yaml:"block" live:"yes" doc:"Lists of numbers that no message may be for; a message from an SMSC must not come from one. Rules of rewrite come before. A message is refused (SMPP: ESME_RPROHIBITED), counted with the list and logged."`
	Allow []string `yaml:"allow" live:"yes" doc:"Lists on one of which the number must be, in the same way; any number when empty. block comes before."`
}

// resolveLists makes the names of the lists' files absolute, and reports those that cannot be read. What is in them is read
// when a gateway starts.
func resolveLists(d *decoder, c *Config) {
	for i := range c.Lists {
		l := &c.Lists[i]
		if l.File = resolve(d.dir, l.File); l.File == "" {
			continue
		}
		if err := readable(l.File); err != nil {
			d.problem(fmt.Sprintf("lists[%d].file", i), "%v", err)
		}
	}
}

// readable returns why a file cannot be read.
func readable(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("names %s, which does not exist: make the file, or name another", name)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("names %s, which is not a regular file: name a regular file", name)
	case err != nil:
		return fmt.Errorf("cannot be read: %w: let the gateway's user read it, or name another", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("cannot be read: %w: let the gateway's user read it, or name another", err)
	}
	return f.Close()
}

// checkLists checks the names of lists, and that those exist which options name.
func checkLists(d *decoder, c *Config) {
	names, files, used := map[string]int{}, map[string]int{}, map[string]bool{}
	for i := range c.Lists {
		l := &c.Lists[i]
		if l.Name != "" && !nameForm.MatchString(l.Name) {
			d.problem(fmt.Sprintf("lists[%d].name", i), "must be letters, digits, '-' and '_', at most 64, not %q", l.Name)
		}
		d.unique(names, l.Name, "lists[%d].name", i)
		d.unique(files, l.File, "lists[%d].file", i)
	}
	check := func(path string, lists []string) {
		for i, name := range lists {
			used[name] = true
			if _, ok := names[name]; !ok {
				d.problem(fmt.Sprintf("%s[%d]", path, i), "names no list: %q: write it below lists, or change the name", name)
			}
		}
	}
	for i := range c.Accounts {
		a, path := &c.Accounts[i], fmt.Sprintf("accounts[%d].", i)
		check(path+"block", a.Block)
		check(path+"allow", a.Allow)
		check(path+"senders", a.Senders)
	}
	for i := range c.Connectors {
		one, path := &c.Connectors[i], fmt.Sprintf("connectors[%d].", i)
		check(path+"block", one.Block)
		check(path+"allow", one.Allow)
	}
	for i := range c.Lists {
		for j, name := range c.Lists[i].OptOutFrom {
			is := func(one Connector) bool { return one.Name == name && one.Direction == Out }
			if !slices.ContainsFunc(c.Connectors, is) {
				d.problem(fmt.Sprintf("lists[%d].opt_out_from[%d]", i, j), "names no out connector: %q: name one", name)
			}
		}
		if name := c.Lists[i].Name; !used[name] {
			d.warn(fmt.Sprintf("lists[%d]", i), "is not used: name it in block, allow or senders of an account or a connector")
		}
	}
}
