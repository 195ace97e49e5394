package main

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
)

func newMailCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mail",
		Short: "Test the sending of mail",
		Long: `The gateway sends mail to customers by the server of the section mail: that a balance is low,
and a link for a new password (docs/mail.md).`,
		Example: "  pmg mail test ann@example.net",
	}
	cmd.AddCommand(newMailTestCommand())
	return cmd
}

func newMailTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test ADDRESS",
		Short: "Send a mail now, and show what the server answers",
		Long: `Asks the running gateway to send a mail to an address now. Prints that the server of the
section mail has taken it, or the step at which that failed with the server's answer. The
mail may still be refused on its way: look for it at the address.`,
		Example: "  pmg mail test ann@example.net",
		Args:    ask.Exactly(1, "the address that gets the mail"),
	}
	send := slowGateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var m admin.Mailed
		if err := send(http.MethodPost, admin.Base+"/mail/test?"+url.Values{"to": {args[0]}}.Encode(), &m); err != nil {
			return err
		}
		_, err := fmt.Fprintf(
			cmd.OutOrStdout(), "%s has taken a mail for %s\n", console.Escaped(m.Server), console.Escaped(m.To),
		)
		return err
	}
	return cmd
}
