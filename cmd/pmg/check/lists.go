// Package check has the commands that check the files and objects of a configuration: lists of numbers, networks,
// plugins and profiles.
//
// Start reading with Lists, Networks, Plugins or Profiles.
package check

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/internal/textfile"
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
	cmd.AddCommand(
		listCheckCommand(), listTestCommand(load), listShowCommand(load), listAddCommand(load), listRemoveCommand(load),
		listExportCommand(load),
	)
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

// quoted returns an argument in a form that is safe on a terminal.
func quoted(arg string) string {
	if q := strconv.Quote(arg); q != `"`+arg+`"` {
		return q
	}
	return arg
}
