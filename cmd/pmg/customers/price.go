package customers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/events/stats"
	"pmg/internal/textfile"
	"pmg/sms/networks"
	"pmg/sms/prices"
)

// Price returns the command price.
func Price() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "price",
		Short:   "Check lists of prices",
		Long:    "Lists of prices are files that the section prices of the configuration names (docs/prices.md).",
		Example: "  pmg price check prices.csv",
	}
	cmd.AddCommand(priceCheckCommand())
	return cmd
}

func priceCheckCommand() *cobra.Command {
	var o prices.Options
	var table string
	var traffic Traffic
	var days stats.Days
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Read a list of prices, and report what is wrong with it",
		Long: `Reads a file as a gateway would, says what its first rows mean, and reports rows that cannot
be read. The exit status is 1 if there is one: a gateway does not start with such a file, and
a reload changes nothing. With --networks it names the networks of a table that have no price.

With --events it names the networks, and the beginnings of numbers of unknown networks, that
messages went to and that have no price in the file: of the last 30 days without --day, --month,
--from and --to. --account is for the list of an account, --connector for what an SMSC charges.`,
		Example: "  pmg price check --currency EUR prices.csv\n  pmg price check --networks networks.csv prices.csv\n" +
			"  pmg price check --events /var/lib/pmg/events --connector telia costs.csv",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(o.Columns) > 0 {
				if err := prices.CheckColumns(o.Columns); err != nil {
					return fmt.Errorf("cannot use --columns: %w", err)
				}
			}
			if o.Dates != "" && !slices.Contains(prices.DateForms(), o.Dates) {
				return fmt.Errorf("cannot use --dates %q: it must be one of %s", o.Dates, strings.Join(prices.DateForms(), ", "))
			}
			known, err := readNetworks(table)
			if err != nil {
				return err
			}
			if err := traffic.prepare(days, known, time.Now()); err != nil {
				return err
			}
			var failed error
			read := func(file string) (*prices.List, error) { return prices.ReadFile(file, o) }
			says := func(l *prices.List) textfile.Summary {
				s := summary(l, known)
				var lines []string
				if lines, failed = traffic.Without(l); len(traffic.Dirs) > 0 && failed == nil && len(lines) == 0 {
					lines = []string{"all messages of the events have a price"}
				}
				s.Remarks = append(s.Remarks, lines...)
				return s
			}
			return errors.Join(textfile.Check(cmd.OutOrStdout(), args[0], read, says), failed)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Currency, "currency", "EUR", "the `currency` of the list")
	f.StringSliceVar(&o.Columns, "columns", nil, "what the `columns` are, as the option prices.columns")
	f.StringVar(&o.Charset, "charset", "utf-8", "the `charset`, as the option prices.charset")
	f.StringVar(&o.Dates, "dates", "", "the `form` of days, as the option prices.dates")
	f.BoolVar(&o.Round, "round", false, "round prices with more than six digits behind the point")
	f.StringVar(&table, "networks", "", "a `file` of networks, of which those without a price are named")
	traffic.flags(cmd, &days)
	return cmd
}

// readNetworks reads a table of networks, nil if there is none.
func readNetworks(file string) (*networks.Table, error) {
	if file == "" {
		return nil, nil
	}
	return networks.ReadFile(file, networks.Options{})
}

// summary returns what a list has. It names those known networks that have no price, nor has their country.
func summary(l *prices.List, known *networks.Table) textfile.Summary {
	s := textfile.Summary{First: l.First, Counts: l.Counts.String()}
	for _, text := range l.Warnings() {
		s.Remarks = append(s.Remarks, "warning: "+text)
	}
	if known == nil {
		return s
	}
	for _, n := range known.Networks() {
		if !l.HasNetwork(n) {
			s.Remarks = append(s.Remarks, fmt.Sprintf(
				"network %s (%s) has no price, nor has its country", n, cmp.Or(known.Name(n), "no name"),
			))
		}
	}
	return s
}
