package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
	"pmg/internal/timetext"
)

func newHoldCommand() *cobra.Command {
	var lasts string
	cmd := newOrderCommand(admin.Base+"/hold", &cobra.Command{
		Use:   "hold CONNECTOR",
		Short: "Stop sending to an SMSC for a while",
		Long: `Asks a running gateway to send no more messages by a connector
to an SMSC, for example during its maintenance. New messages immediately go to other
targets of their routes; messages that already wait follow after the connector's
failover_after. Without another target they wait.

Sessions stay logged in, so that receipts and messages of the SMSC still come, and
requests under way get their answers. If the SMSC ends the sessions, they are
connected again as usual.

The hold ends after --for, by "pmg release", and when the gateway stops: it does not survive
a restart. "pmg status" shows it.`,
		Example: "  pmg hold operator --for 1h\n  pmg hold operator",
	}, func(query url.Values) error {
		if lasts == "" {
			return nil
		}
		d, err := timetext.ParseDuration(lasts)
		if err != nil || d <= 0 {
			return fmt.Errorf("cannot use --for %s: it must be a duration above 0, like 90m, 1h or 1d", lasts)
		}
		query.Set("for", d.String())
		return nil
	}, func(c *admin.Ordered, name string) string {
		until := "until \"pmg release " + name + "\""
		if c.Held != nil && !c.Held.Until.IsZero() {
			until = "until " + c.Held.Until.Local().Format(time.DateTime)
		}
		return fmt.Sprintf("nothing is sent to %s %s or a restart; %d messages wait there", name, until, c.Queued)
	})
	cmd.Flags().StringVar(&lasts, "for", "", "how long, as a `duration`: 90m, 1h, 1d; without it until pmg release")
	return cmd
}

func newReleaseCommand() *cobra.Command {
	return newOrderCommand(admin.Base+"/release", &cobra.Command{
		Use:   "release CONNECTOR",
		Short: "Resume sending to an SMSC that is held",
		Long: `Asks a running gateway to end the hold of a connector ("pmg hold"):
waiting messages leave by the connector again.`,
		Example: "  pmg release operator",
	}, nil, func(c *admin.Ordered, name string) string {
		return fmt.Sprintf(
			"messages are sent to %s again; %d wait there, and %d of %d sessions are open", name, c.Queued, c.Sessions,
			c.Instances,
		)
	})
}

func newConnectCommand() *cobra.Command {
	return newOrderCommand(admin.Base+"/connect", &cobra.Command{
		Use:   "connect CONNECTOR",
		Short: "Connect to an SMSC now, without waiting for the next attempt",
		Long: `Asks a running gateway to connect the sessions of a connector now
that wait for their next attempt after a failure; "pmg status" shows them. The pauses
between further attempts do not change.`,
		Example: "  pmg connect operator",
	}, nil, func(c *admin.Ordered, name string) string {
		if c.Sessions >= c.Instances {
			return fmt.Sprintf("all %d sessions of %s are open", c.Instances, name)
		}
		return fmt.Sprintf(
			"%s is being connected: %d of %d sessions were open; pmg status shows the result", name, c.Sessions,
			c.Instances,
		)
	})
}

// newOrderCommand completes a command with an order to the gateway about a connector. set adds the values of flags,
// and say returns a text about the result.
func newOrderCommand(
	path string, cmd *cobra.Command, set func(url.Values) error, say func(c *admin.Ordered, name string) string,
) *cobra.Command {
	var o statusOptions
	cmd.Args = ask.Exactly(1, "the name of a connector, as in the configuration")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query := url.Values{"connector": {args[0]}}
		if set != nil {
			if err := set(query); err != nil {
				return err
			}
		}
		if err := o.find(cmd); err != nil {
			return err
		}
		c := new(admin.Ordered)
		if err := askAdmin(cmd.Context(), &o.Gateway, http.MethodPost, path+"?"+query.Encode(), c); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), say(c, console.Escaped(c.Connector)))
		return nil
	}
	o.flags(cmd)
	return cmd
}
