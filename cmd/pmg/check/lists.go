// Package check has the commands that check the files and objects of a configuration: lists of numbers, networks,
// plugins and profiles.
//
// Start reading with Lists, Networks, Plugins or Profiles.
package check

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/internal/textfile"
	"pmg/sms/number"
	"pmg/sms/numbers"
)

// Lists returns the command list.
func Lists(load ask.Load) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Check registers of numbers, and add numbers to them",
		Long: `The registers are files: opt-outs, blocked numbers, senders. The section lists of the
configuration names them, and block, allow and senders of accounts and connectors use
them. docs/lists.md describes the files.`,
		Example: "  pmg list check optouts.txt\n  pmg list test optouts +46701740605\n  pmg list add optouts +46701740605",
	}
	cmd.AddCommand(listCheckCommand(), listTestCommand(load), listAddCommand(load), listRemoveCommand(load))
	return cmd
}

func listCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Read the file of a list, and report what is in it and what is wrong",
		Long: `Reads a file like a gateway. It reports the number of entries, the meaning of the first rows,
duplicate entries, lines that cannot be read, memory and time. The exit status is 1 if a line
cannot be read: a gateway does not start with such a file, and a running one keeps the
entries that it has.`,
		Example: "  pmg list check optouts.txt",
		Args:    ask.Exactly(1, "the name of a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return textfile.Check(cmd.OutOrStdout(), args[0], numbers.ReadFile, listSummary)
		},
	}
}

func listSummary(t *numbers.Table) textfile.Summary {
	c := t.Counts
	s := textfile.Summary{First: t.First, Octets: c.Octets}
	s.Counts = fmt.Sprintf("lines %d, numbers %d, prefixes %d, names of senders %d", c.Lines, c.Numbers, c.Prefixes, c.Names)
	if c.Duplicates+c.Covered > 0 {
		s.Remarks = []string{fmt.Sprintf(
			"without effect: %d entries that stand there more than once, %d prefixes that begin with another one",
			c.Duplicates, c.Covered,
		)}
	}
	return s
}

func listTestCommand(load ask.Load) *cobra.Command {
	return onList(load, &cobra.Command{
		Use:   "test NAME NUMBER",
		Short: "Say whether a number is on a list",
		Long: `Says whether a number, or the name of a sender, is on a list of the configuration: in its
file, by a prefix, or by a change beside the file. A running gateway may still have the
earlier entries for about two seconds.`,
		Example: "  pmg list test optouts +46701740605",
		Args:    ask.Exactly(2, "the name of a list and a number"),
	}, func(out io.Writer, l register, name string, all []string) error {
		on, err := l.has(all[0])
		if err != nil {
			return err
		}
		answer := "is not on"
		if on {
			answer = "is on"
		}
		fmt.Fprintf(out, "%s %s list %s\n", quoted(all[0]), answer, name)
		return nil
	})
}

func listAddCommand(load ask.Load) *cobra.Command {
	return onList(load, &cobra.Command{
		Use:   "add NAME NUMBER...",
		Short: "Add numbers to a list",
		Long: `Adds numbers, or names of senders, to a list of the configuration. They are written to a
file beside that of the list, with the ending .changes, so they stay when the list's file is
replaced. A running gateway knows them within two seconds. In a cluster the gateway is asked, at the
node that owns the work, and all nodes have them.`,
		Example: "  pmg list add optouts +46701740605 +46701740606",
		Args:    ask.AtLeast(2, "the name of a list and numbers"),
	}, func(out io.Writer, l register, name string, all []string) error {
		n, err := l.change(true, all)
		if err == nil {
			fmt.Fprintf(out, "list %s: %d added, %d were added before\n", name, n, len(all)-n)
		}
		return err
	})
}

func listRemoveCommand(load ask.Load) *cobra.Command {
	return onList(load, &cobra.Command{
		Use:   "remove NAME NUMBER...",
		Short: "Remove numbers from a list",
		Long: `Removes numbers, or names of senders, from a list of the configuration, even if its file has
them. They are written to a file beside that of the list, with the ending .changes. A running
gateway knows them within two seconds. In a cluster the gateway is asked, at the node that owns the
work.`,
		Example: "  pmg list remove optouts +46701740605",
		Args:    ask.AtLeast(2, "the name of a list and numbers"),
	}, func(out io.Writer, l register, name string, all []string) error {
		n, err := l.change(false, all)
		if err == nil {
			fmt.Fprintf(out, "list %s: %d removed, %d were not on it\n", name, n, len(all)-n)
		}
		return err
	})
}

// onList completes a command that uses a list of the configuration, whose name is its first argument.
func onList(
	load ask.Load, cmd *cobra.Command, do func(out io.Writer, l register, name string, all []string) error,
) *cobra.Command {
	var file string
	var g ask.Gateway
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := load(cmd.ErrOrStderr(), file)
		if err != nil {
			return err
		}
		for i := range c.Lists {
			if c.Lists[i].Name != args[0] {
				continue
			}
			if c.Cluster.Node != "" || g.Address != "" {
				if err := g.Find(c, file); err != nil {
					return err
				}
				return do(cmd.OutOrStdout(), asked{cmd.Context(), &g, args[0]}, args[0], args[1:])
			}
			l, err := numbers.Open(c.Lists[i].File, false)
			if err != nil {
				return err
			}
			return do(cmd.OutOrStdout(), onDisk{l}, args[0], args[1:])
		}
		return fmt.Errorf("cannot find list %s: the section lists of %s does not name it", quoted(args[0]), file)
	}
	ask.Flag(cmd, &file)
	g.Flags(cmd)
	return cmd
}

// A register is a list that a command reads and changes.
type register interface {
	has(address string) (bool, error)
	change(on bool, addresses []string) (int, error)
}

// An onDisk is a list that is changed beside its file, whether a gateway runs or not.
type onDisk struct{ list *numbers.List }

func (l onDisk) has(address string) (bool, error) { return l.list.Has(number.Read(address)), nil }

func (l onDisk) change(on bool, addresses []string) (int, error) {
	if on {
		return l.list.Add(numbers.Origin{}, addresses...)
	}
	return l.list.Remove(numbers.Origin{}, addresses...)
}

// askTimeout is how long a gateway may take for an answer.
const askTimeout = 30 * time.Second

// An asked is a list of a running gateway.
type asked struct {
	ctx     context.Context
	gateway *ask.Gateway
	name    string
}

func (l asked) has(address string) (bool, error) {
	var on struct{ Lists []string }
	query := url.Values{"number": {address}}
	err := l.gateway.JSON(l.ctx, askTimeout, http.MethodGet, admin.Base+"/listed?"+query.Encode(), &on)
	return slices.Contains(on.Lists, l.name), err
}

func (l asked) change(on bool, addresses []string) (int, error) {
	path := admin.Base + "/lists/remove?"
	if on {
		path = admin.Base + "/lists/add?"
	}
	var done admin.ChangedList
	path += url.Values{"list": {l.name}, "number": addresses}.Encode()
	err := l.gateway.JSON(l.ctx, askTimeout, http.MethodPost, path, &done)
	return done.Changed, err
}

// quoted returns an argument in a form that is safe on a terminal.
func quoted(arg string) string {
	if q := strconv.Quote(arg); q != `"`+arg+`"` {
		return q
	}
	return arg
}
