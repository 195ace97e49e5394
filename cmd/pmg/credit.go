package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/gateway/credit"
)

func newCreditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "credit",
		Short: "Show the money of accounts, and enter what they have paid",
		Long: `Accounts with prices are charged for their messages (docs/prices.md). These commands ask a
running gateway.`,
		Example: "  pmg credit add acme 100\n  pmg credit show\n  pmg credit history acme",
	}
	cmd.AddCommand(newCreditAddCommand(), newCreditShowCommand(), newCreditHistoryCommand())
	return cmd
}

func newCreditAddCommand() *cobra.Command {
	var o statusOptions
	var reference, comment string
	cmd := &cobra.Command{
		Use:   "add ACCOUNT AMOUNT",
		Short: "Enter what an account has paid",
		Long: `Adds an amount, in the currency of the account's list of prices, to its balance. An amount
below 0, behind --, is taken away. When the command ends, the payment survives a power cut.
With --reference, such as the number of an invoice, it is entered once, however often
the command is repeated.`,
		Example: "  pmg credit add acme 100\n  pmg credit add --reference invoice-17 --comment \"bank transfer\" acme 99.50\n  pmg credit add -- acme -5",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.find(cmd); err != nil {
				return err
			}
			query := url.Values{"account": {args[0]}, "amount": {args[1]}, "reference": {reference}, "comment": {comment}}
			var done admin.Paid
			err := askAdmin(cmd.Context(), &o.Gateway, http.MethodPost, admin.Base+"/credit/add?"+query.Encode(), &done)
			if err == nil {
				fmt.Fprintf(
					cmd.OutOrStdout(), "%s: %s %s added, the balance is %s\n", printable(args[0]), printable(done.Payment.Amount),
					printable(done.Currency), printable(done.Payment.Balance),
				)
			}
			return err
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&reference, "reference", "", "a `text` that is taken once for each account")
	cmd.Flags().StringVar(&comment, "comment", "", "a `text` for the history")
	return cmd
}

func newCreditShowCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "show [ACCOUNT]",
		Short: "Show the balance of an account, or of all that have prices",
		Long: `Shows what an account has left, how much of that is reserved for messages that have not ended,
and what is available for others.`,
		Example: "  pmg credit show\n  pmg credit show acme",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.find(cmd); err != nil {
				return err
			}
			var rows []admin.Credit
			path := admin.Base + "/credit?account=" + url.QueryEscape(strings.Join(args, ""))
			if err := askAdmin(cmd.Context(), &o.Gateway, http.MethodGet, path, &rows); err != nil {
				return err
			}
			t := newTable(4, "account", "prices", "mode", "currency", "balance", "reserved", "available")
			for _, r := range rows {
				t.add(r.Account, r.Prices, r.Mode, r.Currency, r.Balance, r.Reserved, dash(r.Available))
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), tableText(t))
			return err
		},
	}
	o.flags(cmd)
	return cmd
}

func newCreditHistoryCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:     "history ACCOUNT",
		Short:   "List what an account has paid",
		Long:    "Lists the payments that were entered for an account, the first one first, up to 10,000.",
		Example: "  pmg credit history acme",
		Args:    oneArg("the name of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.find(cmd); err != nil {
				return err
			}
			var all []credit.Payment
			path := admin.Base + "/credit/history?account=" + url.QueryEscape(args[0])
			if err := askAdmin(cmd.Context(), &o.Gateway, http.MethodGet, path, &all); err != nil {
				return err
			}
			t := newTable(1, "at", "amount", "balance", "reference", "comment", "by")
			for _, p := range all {
				t.add(p.At.Format("2006-01-02 15:04:05"), p.Amount, p.Balance, dash(p.Reference), dash(p.Comment), dash(p.By))
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), tableText(t))
			return err
		},
	}
	o.flags(cmd)
	return cmd
}
