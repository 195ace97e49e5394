package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"pmg/admin"
)

func newSessionsCommand() *cobra.Command {
	var o statusOptions
	var connectors, accounts []string
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of a running gateway",
		Long: `Asks a running gateway, which is at --address or else at the socket or the address
of the configuration's section admin, for its sessions: connector/number, the peer's address,
the account (of the client, or the system_id that the gateway logs in to an SMSC with),
how long the session has been open and its peer silent, how much of its window is in use,
and how many messages wait for the peer.

"pmg kick" ends sessions.`,
		Example: "  pmg sessions\n  pmg sessions --account acme\n  pmg sessions --connector operator --json | jq -r .remote",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.find(cmd); err != nil {
				return err
			}
			o.sessions = true
			s, err := askStatus(cmd.Context(), o)
			if err != nil {
				return err
			}
			keepSessions(s, connectors, accounts)
			return writeSessions(cmd.OutOrStdout(), s, o.asJSON)
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&connectors, "connector", nil, "only those of this connector; may be repeated")
	f.StringSliceVar(&accounts, "account", nil, "only those of this account; may be repeated")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

// keepSessions removes the sessions that the flags do not select.
func keepSessions(s *admin.Status, connectors, accounts []string) {
	for i := range s.Connectors {
		c := &s.Connectors[i]
		c.SessionList = slices.DeleteFunc(c.SessionList, func(o admin.Session) bool {
			return len(connectors) > 0 && !slices.Contains(connectors, c.Name) ||
				len(accounts) > 0 && !slices.Contains(accounts, o.Account)
		})
	}
}

// sessionNamesOf returns the names of a gateway's sessions, for completion; none if it does not answer.
func sessionNamesOf(cmd *cobra.Command) (names []string) {
	o := statusOptions{config: cmd.Flag("config").Value.String(), sessions: true}
	if f := cmd.Flag("address"); f != nil {
		o.Address = f.Value.String()
	}
	if o.Address == "" && o.find(cmd) != nil {
		return nil
	}
	s, err := askStatus(cmd.Context(), o)
	if err != nil {
		return nil
	}
	for i := range s.Connectors {
		for _, one := range s.Connectors[i].SessionList {
			names = append(names, fmt.Sprintf("%s/%d", s.Connectors[i].Name, one.Number))
		}
	}
	return names
}

func writeSessions(out io.Writer, s *admin.Status, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(out, cmp.Or(tableText(sessionTable(s)), "no sessions\n"))
		return err
	}
	for _, c := range s.Connectors {
		for _, o := range c.SessionList {
			if err := writeJSON(out, o); err != nil {
				return err
			}
		}
	}
	return nil
}
