package money

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
	cmd.AddCommand(checkCommand())
	return cmd
}

func checkCommand() *cobra.Command {
	var o prices.Options
	var table string
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Read a list of prices, and report what is wrong with it",
		Long: `Reads a file as a gateway would, says what its first rows mean, and reports rows that cannot
be read. The exit status is 1 if there is one: a gateway does not start with such a file, and
a reload changes nothing. With --networks it names the networks of a table that have no price.`,
		Example: "  pmg price check --currency EUR prices.csv\n  pmg price check --networks networks.csv prices.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(o.Columns) > 0 {
				if err := prices.CheckColumns(o.Columns); err != nil {
					return fmt.Errorf("cannot use --columns: %w", err)
				}
			}
			if o.Dates != "" && !slices.Contains(prices.DateForms(), o.Dates) {
				return fmt.Errorf("cannot use --dates %q: it must be one of %s", o.Dates, strings.Join(prices.DateForms(), ", "))
			}
			l, err := prices.ReadFile(args[0], o)
			bad := (*textfile.Problems)(nil)
			if err != nil && !errors.As(err, &bad) {
				return err
			}
			describe(cmd.OutOrStdout(), args[0], l)
			if table != "" {
				if err := nameUnpriced(cmd.OutOrStdout(), l, table); err != nil {
					return err
				}
			}
			if bad == nil {
				return nil
			}
			for _, p := range bad.First {
				fmt.Fprintf(cmd.OutOrStdout(), "%s:%d: %s\n", args[0], p.Line, p.Text)
			}
			return fmt.Errorf("cannot use %s: %d problems", args[0], bad.Total)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Currency, "currency", "EUR", "the `currency` of the list")
	f.StringSliceVar(&o.Columns, "columns", nil, "what the `columns` are, as the option prices.columns")
	f.StringVar(&o.Charset, "charset", "utf-8", "the `charset`, as the option prices.charset")
	f.StringVar(&o.Dates, "dates", "", "the `form` of days, as the option prices.dates")
	f.BoolVar(&o.Round, "round", false, "round prices with more than six digits behind the point")
	f.StringVar(&table, "networks", "", "a `file` of networks, of which those without a price are named")
	return cmd
}

// describe writes what a list has, and what its first rows mean.
func describe(out io.Writer, name string, l *prices.List) {
	fmt.Fprintf(
		out, "%s: %d prices: %d of networks, %d of countries, %d of prefixes\n", name, l.Rows, l.Networks, l.Countries,
		l.Prefixes,
	)
	for _, text := range l.First {
		fmt.Fprintf(out, "  %s\n", text)
	}
	if l.Rows > 0 && !l.HasOthers() {
		fmt.Fprintln(out, "warning: no row with * has the price of all others: messages to other numbers are refused")
	}
}

// nameUnpriced writes the networks of a table of which a list has neither their price nor that of their country.
func nameUnpriced(out io.Writer, l *prices.List, table string) error {
	t, err := networks.ReadFile(table, networks.Options{})
	if err != nil {
		return err
	}
	for _, n := range t.Networks() {
		if !l.HasNetwork(n) {
			fmt.Fprintf(out, "network %s (%s) has no price, nor has its country\n", n, cmp.Or(t.Name(n), "no name"))
		}
	}
	return nil
}
