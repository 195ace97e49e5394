package check

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/internal/sheet"
	"pmg/internal/textfile"
	"pmg/sms"
	"pmg/sms/networks"
	"pmg/sms/number"
	"pmg/sms/numbers"
)

// Networks returns the command network.
func Networks(load ask.Load) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "network",
		Short: "Check the table of mobile networks, and look numbers up in it",
		Long: `The table says which mobile network (MCC and MNC) a number belongs to. The section networks
of the configuration names its file. docs/networks.md describes it.`,
		Example: "  pmg network check networks.csv\n  pmg network lookup +46701740605\n  pmg network test numbers.txt",
	}
	cmd.AddCommand(networkCheckCommand(), networkLookupCommand(load), networkTestCommand(load))
	return cmd
}

func networkCheckCommand() *cobra.Command {
	var options networks.Options
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Read a table of networks, and report what is in it and what is wrong",
		Long: `Reads a file like a gateway. It reports the numbers of rows and networks, the meaning of the
first rows, duplicate rows, rows that cannot be used, memory and time. The exit status is 1 if
a row cannot be used: a gateway does not start with such a file, and a running one keeps the
table that it has.`,
		Example: "  pmg network check networks.csv\n  pmg network check --columns prefix,mcc,mnc networks.csv",
		Args:    ask.Exactly(1, "the name of a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkColumns(options.Columns); err != nil {
				return err
			}
			read := func(file string) (*networks.Table, error) { return networks.ReadFile(file, options) }
			return textfile.Check(cmd.OutOrStdout(), args[0], read, networkSummary)
		},
	}
	optionFlags(cmd, &options)
	return cmd
}

func networkSummary(t *networks.Table) textfile.Summary {
	c := t.Counts
	s := textfile.Summary{First: t.First, Octets: c.Octets}
	s.Counts = fmt.Sprintf(
		"lines %d, prefixes %d, ranges %d, networks %d, whole countries %d, rows in other ones %d",
		c.Lines, c.Rows-c.Ranges, c.Ranges, c.Networks-c.Countries, c.Countries, c.Within,
	)
	if c.Duplicates > 0 {
		s.Remarks = []string{fmt.Sprintf("without effect: %d rows that stand there more than once", c.Duplicates)}
	}
	return s
}

func optionFlags(cmd *cobra.Command, o *networks.Options) {
	cmd.Flags().StringSliceVar(&o.Columns, "columns", nil, "what the `columns` are, as the option networks.columns")
	cmd.Flags().StringVar(&o.Charset, "charset", "utf-8", "the `charset` of names, as the option networks.charset")
}

func checkColumns(columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	if err := networks.CheckColumns(columns); err != nil {
		return fmt.Errorf("cannot use --columns: %w", err)
	}
	return nil
}

// A source is the selection of a table: that of the configuration, or another one.
type source struct {
	load         ask.Load
	config, file string
	options      networks.Options
}

// flags adds the flags that select the table.
func (s *source) flags(cmd *cobra.Command) {
	ask.Flag(cmd, &s.config)
	cmd.Flags().StringVar(&s.file, "table", "", "use this `file` instead of that of the configuration")
	optionFlags(cmd, &s.options)
}

// table reads the table.
func (s *source) table(cmd *cobra.Command) (*networks.Table, error) {
	if s.file != "" {
		if err := checkColumns(s.options.Columns); err != nil {
			return nil, err
		}
		return networks.ReadFile(s.file, s.options)
	}
	c, err := s.load(cmd.ErrOrStderr(), s.config)
	if err != nil {
		return nil, err
	}
	if c.Networks.File == "" {
		return nil, errors.New("cannot find a table of networks: the configuration has no networks.file; --table names one")
	}
	return networks.ReadFile(c.Networks.File, c.Networks.Reading())
}

func networkLookupCommand(load ask.Load) *cobra.Command {
	s := source{load: load}
	cmd := &cobra.Command{
		Use:   "lookup NUMBER...",
		Short: "Print the network of numbers",
		Long: `Prints the network of each number in the table: MCC and MNC, and its name if the table has
names. Numbers are international, with or without +. Plugins are not asked, so the network of
a ported number may be another one.`,
		Example: "  pmg network lookup +46701740605",
		Args:    ask.AtLeast(1, "numbers"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.table(cmd)
			if err != nil {
				return err
			}
			for _, text := range args {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", strconv.Quote(text), textOf(t, t.Of(number.Read(text))))
			}
			return nil
		},
	}
	s.flags(cmd)
	return cmd
}

// textOf returns a network and its name, for people.
func textOf(t *networks.Table, n sms.Network) string {
	text := cmp.Or(n.String(), config.UnknownNetwork)
	if name := t.Name(n); name != "" {
		text += " (" + name + ")"
	}
	return text
}

// kind is the kind of a file of numbers that a table is tested with.
var kind = textfile.Kind{Name: "numbers", Check: "this command"}

func networkTestCommand(load ask.Load) *cobra.Command {
	s := source{load: load}
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Count the networks of the numbers of a file",
		Long: `Reads a file with a number in each line, or a table with a column of numbers, such as last
month's recipients, and prints how many of them belong to each network, and how many to none
in the table. --table selects another table.`,
		Example: "  pmg network test numbers.txt\n  pmg network test --table offered.csv numbers.txt",
		Args:    ask.Exactly(1, "the name of a file of numbers"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.table(cmd)
			if err != nil {
				return err
			}
			return count(cmd.OutOrStdout(), t, args[0])
		},
	}
	s.flags(cmd)
	return cmd
}

// count writes how many numbers of a file belong to each network, the largest count first.
func count(out io.Writer, t *networks.Table, file string) error {
	counts, all := map[sms.Network]int{}, 0
	bad, err := textfile.ReadFile(kind, file, func(from io.Reader) (*textfile.Problems, error) {
		p := &textfile.Problems{Kind: kind, File: file}
		_, _, err := sheet.Read(from, p, numbers.Form(), func(row *sheet.Row) error {
			cell, isPrefix, err := numbers.CellOf(row)
			if err == nil && isPrefix {
				err = errors.New("prefixes have no network of their own: name the column number")
			}
			if err != nil {
				return err
			}
			n, err := number.Parse(string(cell))
			if err != nil {
				return fmt.Errorf("it is not an international number: %w", err)
			}
			counts[t.Of(n)]++
			all++
			return nil
		})
		return p, err
	})
	if err != nil {
		return err
	}
	byCount := slices.SortedFunc(maps.Keys(counts), func(a, b sms.Network) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, n := range byCount {
		fmt.Fprintf(out, "%d (%.1f %%): %s\n", counts[n], 100*float64(counts[n])/float64(all), textOf(t, n))
	}
	if bad.Total > 0 {
		return bad
	}
	return nil
}
