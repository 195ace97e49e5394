package customers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/gateway/credit"
	"pmg/internal/console"
)

// A Gateway adds the flags that select a running gateway to a command, and returns how it is asked.
type Gateway func(cmd *cobra.Command) func(method, path string, v any) error

// Credit returns the command credit.
func Credit(g Gateway) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "credit",
		Short: "Show the money of accounts, and enter what they have paid",
		Long: `Accounts with prices are charged for their messages (docs/prices.md). These commands ask a
running gateway.`,
		Example: "  pmg credit add acme 100\n  pmg credit show\n  pmg credit history acme",
	}
	cmd.AddCommand(paymentCommand(g), creditShowCommand(g), creditHistoryCommand(g))
	return cmd
}

func paymentCommand(g Gateway) *cobra.Command {
	var ask func(method, path string, v any) error
	var reference, comment string
	cmd := &cobra.Command{
		Use:   "add ACCOUNT AMOUNT",
		Short: "Enter what an account has paid",
		Long: `Adds an amount, in the currency of the account's list of prices, to its balance. An amount
below 0, behind --, is taken away. When the command ends, the payment survives a power cut.
With --reference, such as the number of an invoice, it is entered once, however often
the command is repeated.`,
		Example: "  pmg credit add acme 100\n" +
			"  pmg credit add --reference invoice-17 --comment \"bank transfer\" acme 99.50\n  pmg credit add -- acme -5",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"account": {args[0]}, "amount": {args[1]}, "reference": {reference}, "comment": {comment}}
			var done admin.Paid
			err := ask(http.MethodPost, admin.Base+"/credit/add?"+query.Encode(), &done)
			if err == nil {
				fmt.Fprintf(
					cmd.OutOrStdout(), "%s: %s %s added, the balance is %s\n", console.Plain(args[0]),
					console.Plain(done.Payment.Amount), console.Plain(done.Currency), console.Plain(done.Payment.Balance),
				)
			}
			return err
		},
	}
	ask = g(cmd)
	cmd.Flags().StringVar(&reference, "reference", "", "a `text` that is taken once for each account")
	cmd.Flags().StringVar(&comment, "comment", "", "a `text` for the history")
	return cmd
}

func creditShowCommand(g Gateway) *cobra.Command {
	var ask func(method, path string, v any) error
	cmd := &cobra.Command{
		Use:   "show [ACCOUNT]",
		Short: "Show the balance of an account, or of all that have prices",
		Long: `Shows what an account has left, how much of that is reserved for messages that have not ended,
what is available for others and, of accounts that have a bound for these, what was charged today and
in this month of UTC.`,
		Example: "  pmg credit show\n  pmg credit show acme",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var rows []admin.Credit
			path := admin.Base + "/credit?account=" + url.QueryEscape(strings.Join(args, ""))
			if err := ask(http.MethodGet, path, &rows); err != nil {
				return err
			}
			all := [][]string{{"account", "prices", "mode", "currency", "balance", "reserved", "available", "today", "month"}}
			for _, r := range rows {
				row := []string{r.Account, r.Prices, r.Mode, r.Currency, r.Balance, r.Reserved, r.Available, r.Today, r.Month}
				all = append(all, row)
			}
			return console.Table(cmd.OutOrStdout(), all)
		},
	}
	ask = g(cmd)
	return cmd
}

func creditHistoryCommand(g Gateway) *cobra.Command {
	var ask func(method, path string, v any) error
	cmd := &cobra.Command{
		Use:     "history ACCOUNT",
		Short:   "List what an account has paid",
		Long:    "Lists the payments that were entered for an account, the first one first, up to 10,000.",
		Example: "  pmg credit history acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []credit.Payment
			path := admin.Base + "/credit/history?account=" + url.QueryEscape(args[0])
			if err := ask(http.MethodGet, path, &all); err != nil {
				return err
			}
			rows := [][]string{{"at", "amount", "balance", "reference", "comment", "by"}}
			for _, p := range all {
				at := p.At.Format("2006-01-02 15:04:05")
				rows = append(rows, []string{at, p.Amount, p.Balance, p.Reference, p.Comment, p.By})
			}
			return console.Table(cmd.OutOrStdout(), rows)
		},
	}
	ask = g(cmd)
	return cmd
}
