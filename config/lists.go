package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/sms/networks"
)

// List is a register of numbers in a file.
type List struct {
	Name string `yaml:"name" required:"yes" live:"yes" doc:"Its name in block, allow and senders, in logs and metrics: letters, digits, '-' and '_'."`
	File string `yaml:"file" required:"yes" live:"yes" doc:"Its file: a number, a prefix such as 4670* or a sender's name in each line; '#' begins a comment (docs/lists.md). A changed file is read again. The gateway's user must be able to write FILE.changes, of pmg list add and remove."`

	OptOutFrom []string `yaml:"opt_out_from" live:"yes" doc:"Out connectors whose messages from mobiles change the list: a word of stop adds the sender, one of start removes it, on disk before the SMSC is answered; then the message goes on. Messages to a number on the list are refused as opted_out, not as blocked."`
	OptOutTo   []string `yaml:"opt_out_to" live:"yes" doc:"The numbers and short codes that such messages must be for, each in full; any when empty."`
	Stop       []string `yaml:"stop" default:"STOP, STOPP, STOPALL, STOP ALL, UNSUBSCRIBE, CANCEL, END, QUIT, REVOKE, OPTOUT, OPT OUT, OPT-OUT, ARRET, ARRÊT, BAJA, PARAR" live:"yes" doc:"Words that add the sender, in any letter case, if the text has nothing else but blanks and marks at both ends."`
	Start      []string `yaml:"start" default:"START, UNSTOP" live:"yes" doc:"Words that remove the sender from the list. YES is none of them, because people write YES in answer to other questions."`
	StopReply  string   `yaml:"stop_reply" live:"yes" doc:"The answer to a mobile that a word of stop has added: one short message, from the same number. None when empty, nor if the number was on the list."`
	StartReply string   `yaml:"start_reply" live:"yes" doc:"The same for a mobile that a word of start has removed."`
}

// Screening is which numbers may be sent to, or may send.
type Screening struct {
	Block []string `yaml:"block" live:"yes" doc:"Lists of numbers that no message may be for, nor a message of an SMSC from, after rewrite; it is refused (SMPP: ESME_RPROHIBITED), counted and logged."`
	Allow []string `yaml:"allow" live:"yes" doc:"Lists on one of which the number must be, in the same way; any number when empty. block comes before."`
}

// OptOuts returns the names of the lists of opt-outs that are an account's alone: mobiles change them, the account blocks their
// numbers, and no other account and no connector uses them.
func (c *Config) OptOuts(account string) (names []string) {
	i := slices.IndexFunc(c.Accounts, func(a Account) bool { return a.SystemID == account })
	if i < 0 {
		return nil
	}
	for _, name := range c.Accounts[i].Block {
		isOptOut := slices.ContainsFunc(c.Lists, func(l List) bool { return l.Name == name && len(l.OptOutFrom) > 0 })
		if isOptOut && !c.usesList(name, account) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// usesList reports whether a connector, or an account but for one, uses a list.
func (c *Config) usesList(name, but string) bool {
	uses := func(s *Screening) bool { return slices.Contains(s.Block, name) || slices.Contains(s.Allow, name) }
	return slices.ContainsFunc(c.Connectors, func(one Connector) bool { return uses(&one.Screening) }) ||
		slices.ContainsFunc(c.Accounts, func(one Account) bool {
			return one.SystemID != but && (uses(&one.Screening) || slices.Contains(one.Senders, name))
		})
}

// Networks is the table of networks.
type Networks struct {
	File    string   `yaml:"file" live:"yes" doc:"The file of the table, CSV (docs/networks.md#the-table): prefixes, or ranges of numbers, and their networks, up to 10,000,000 rows. A changed file is read again. None when empty."`
	Columns []string `yaml:"columns" enum:"prefix|from|to|network|mcc|mnc|name|ignore" live:"yes" doc:"The columns of the file, in order, such as [prefix, mcc, mnc, name]. When not given they are those that its first line names, or else prefix and network."`
	Charset string   `yaml:"charset" default:"utf-8" enum:"utf-8|latin1" live:"yes" doc:"The charset of the names in the file: utf-8, or latin1, as spreadsheets of Windows write them."`
}

// Reading returns how the table is read.
func (n *Networks) Reading() networks.Options {
	return networks.Options{Columns: n.Columns, Charset: n.Charset}
}

// UnknownNetwork is the name by which routes match numbers whose network is unknown.
const UnknownNetwork = "unknown"

// resolveNetworks makes the name of the table's file absolute, and reports one that cannot be read.
func resolveNetworks(d *decoder, n *Networks) {
	if n.File = resolve(d.dir, n.File); n.File == "" {
		return
	}
	if err := readable(n.File); err != nil {
		d.problem("networks.file", "%v", err)
	}
}

// checkNetworks checks the table of networks, and the networks that routes name.
func checkNetworks(d *decoder, c *Config) {
	if n := &c.Networks; len(n.Columns) > 0 {
		if n.File == "" {
			d.problem("networks.columns", "has no effect without file: name the file, or remove it")
		}
		if err := networks.CheckColumns(n.Columns); err != nil && !slices.Contains(n.Columns, "") { // already reported
			d.problem("networks.columns", "cannot be used: %v", err)
		}
	}
	for i := range c.Routes {
		r := &c.Routes[i]
		for k, text := range r.Network {
			if _, ok := sms.ReadNetwork(text); !ok && text != UnknownNetwork {
				d.problem(
					fmt.Sprintf("routes[%d].network[%d]", i, k),
					"must be MCC and MNC such as 26201, an MCC such as 262, or unknown, not %q", text,
				)
			}
		}
		if r.Policy == Quality && c.Networks.File == "" && len(c.Plugins) == 0 {
			d.problem(fmt.Sprintf("routes[%d].policy", i), "must not be quality without networks, by which messages are counted")
		}
		if len(r.Network) > 0 && c.Networks.File == "" && len(c.Plugins) == 0 {
			d.warn(
				fmt.Sprintf("routes[%d].network", i),
				"has no table to look numbers up in, so that no network is known: write networks: {file: …}",
			)
		}
	}
}

// resolveLists makes the names of the lists' files absolute, and reports those that cannot be read. The
// contents of the files are read when a gateway starts.
func resolveLists(d *decoder, c *Config) {
	for i := range c.Lists {
		l := &c.Lists[i]
		if l.File = resolve(d.dir, l.File); l.File == "" {
			continue
		}
		checkRows(d, fmt.Sprintf("lists[%d].file", i), "lists/"+l.Name, l.File)
	}
}

// checkRows reports a file of rows that cannot be read. If the file of a managed object is missing, the
// message names the request that creates it.
func checkRows(d *decoder, path, object, name string) {
	if d.options.Instead[object+filepath.Ext(name)] != nil {
		return // the rows are written together with the options
	}
	err := readable(name)
	if file, _, _ := place(d, path); file != d.file && errors.Is(err, os.ErrNotExist) {
		d.problem(path, "must have rows, in %s: PUT /%s/rows first", filepath.Base(name), object)
	} else if err != nil {
		d.problem(path, "%v", err)
	}
}

// A missing error says that a file does not exist.
type missing string

func (e missing) Error() string { return string(e) }

func (missing) Unwrap() error { return os.ErrNotExist }

// readable returns why a file cannot be read.
func readable(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return missing(fmt.Sprintf("names %s, which does not exist: make the file, or name another", name))
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

// checkLists checks the names of lists, and that the lists named by options exist.
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
	checkOptOuts(d, c)
	for i := range c.Lists {
		if name := c.Lists[i].Name; !used[name] {
			d.warn(fmt.Sprintf("lists[%d]", i), "is not used: name it in block, allow or senders of an account or a connector")
		}
	}
}

// checkOptOuts checks the connectors whose messages change lists, and the answers to mobiles.
func checkOptOuts(d *decoder, c *Config) {
	words := map[string]bool{}
	for i := range c.Lists {
		for _, w := range slices.Concat(c.Lists[i].Stop, c.Lists[i].Start) {
			words[smstext.Word(w)] = true
		}
	}
	for i := range c.Lists {
		l := &c.Lists[i]
		var from []*Connector
		for j, name := range l.OptOutFrom {
			at := slices.IndexFunc(c.Connectors, func(one Connector) bool { return one.Name == name && one.Direction == Out })
			if at < 0 {
				d.problem(fmt.Sprintf("lists[%d].opt_out_from[%d]", i, j), "names no out connector: %q: name one", name)
			} else {
				from = append(from, &c.Connectors[at])
			}
		}
		for _, reply := range [...]struct{ path, text string }{{"stop_reply", l.StopReply}, {"start_reply", l.StartReply}} {
			path := fmt.Sprintf("lists[%d].%s", i, reply.path)
			switch {
			case reply.text == "":
			case words[smstext.Word(reply.text)]:
				d.problem(
					path, "must not be a word of stop or start itself, because whoever answers it alike would be answered: "+
						"write a sentence",
				)
			case len(l.OptOutFrom) == 0:
				d.problem(path, "is never sent without opt_out_from: name an out connector there, or remove it")
			default:
				checkReply(d, path, reply.text, from)
			}
		}
	}
}

// checkReply checks that connectors can send an answer to a mobile, as one short message.
func checkReply(d *decoder, path, text string, by []*Connector) {
	for _, c := range by {
		if !c.BindType().CanSubmit() {
			d.problem(
				path, "cannot be sent by connector %s, which binds as receiver: set its bind to transceiver, or remove it",
				c.Name,
			)
			continue
		}
		var m sms.Message
		f := c.Form()
		f.Long = fit.Split8
		alphabet, octets := smstext.Encode(f.Default, text)
		m.Set(sms.Address{}, sms.Address{}, octets)
		m.Alphabet = alphabet
		var fitter fit.Converter
		if !f.Takes.Has(alphabet) {
			fitter.Convert(f, &m)
		}
		if n, ok := fitter.Parts(f, &m); n > 1 || !ok {
			d.problem(
				path, "takes more than one short message on connector %s: write 160 characters at most, or 70 if its "+
					"alphabet lacks one of them",
				c.Name,
			)
		}
	}
}
