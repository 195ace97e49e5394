package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
)

// sessionName matches the name of a session: connector/number.
var sessionName = regexp.MustCompile(`^[^/]+/[0-9]+$`)

func newKickCommand() *cobra.Command {
	var o statusOptions
	var isAccount bool
	cmd := &cobra.Command{
		Use:   "kick SESSION|ACCOUNT",
		Short: "End a session, or all sessions of an account",
		Long: `Asks a running gateway to log out of a session, with its name
in "pmg sessions" (clients/3), or out of all sessions of a client account. A session
gets no more messages, and is logged out when its messages are answered, or after
response_timeout.

A client that was logged out may log in again: to keep it out, change or remove its
account and reload. A session to an SMSC is connected again.`,
		Example: "  pmg kick clients/3\n  pmg kick acme",
		Args:    ask.Exactly(1, "the name of a session or an account, as pmg sessions shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.find(cmd); err != nil {
				return err
			}
			query := url.Values{"account": {args[0]}}
			if sessionName.MatchString(args[0]) && !isAccount {
				query = url.Values{"session": {args[0]}}
			}
			var done admin.Kicked
			if err := askAdmin(
				cmd.Context(), &o.Gateway, http.MethodPost, admin.Base+"/kick?"+query.Encode(), &done,
			); err != nil {
				return err
			}
			for _, name := range done.Sessions {
				fmt.Fprintf(cmd.OutOrStdout(), "session %s is being logged out\n", console.Escaped(name))
			}
			return nil
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&isAccount, "account", false, "the argument is an account, even if it looks like a session")
	return cmd
}
