package money

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pmg/internal/textfile"
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
	var currency string
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Read a list of prices, and report what is wrong with it",
		Long: `Reads a file as a gateway would, and reports rows that cannot be read. The exit status is 1 if
there is one: a gateway does not start with such a file, and a reload changes nothing.`,
		Example: "  pmg price check --currency EUR prices.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := prices.ReadFile(args[0], currency)
			bad := (*textfile.Problems)(nil)
			if err != nil && !errors.As(err, &bad) {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d prices\n", args[0], l.Rows)
			if bad == nil {
				return nil
			}
			for _, p := range bad.First {
				fmt.Fprintf(cmd.OutOrStdout(), "%s:%d: %s\n", args[0], p.Line, p.Text)
			}
			return fmt.Errorf("cannot use %s: %d problems", args[0], bad.Total)
		},
	}
	cmd.Flags().StringVar(&currency, "currency", "EUR", "the `currency` that a column currency must have")
	return cmd
}
