package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/config"
)

func newHoldCommand() *cobra.Command {
	var o statusOptions
	var lasts string
	cmd := &cobra.Command{
		Use:   "hold CONNECTOR",
		Short: "Send nothing to an SMS centre for a while",
		Long: `Asks a running gateway at its admin address to send no more messages by a connector
to an SMS centre, for example while that is under maintenance. Messages go to other
targets of their routes at once; those that wait already follow after the connector's
failover_after. Where there is no other target, they wait.

Sessions stay logged in, so that receipts and messages of the SMS centre still come, and
requests under way get their answers. If the SMS centre ends the sessions, they are
connected again as usual.

The hold ends after --for, by "pmg release", and when the gateway stops: a restart does not
remember it. "pmg status" shows it.`,
		Example: "  pmg hold operator --for 1h\n  pmg hold operator",
		Args:    oneArg("the name of a connector, as in the configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"connector": {args[0]}}
			if lasts != "" {
				d, err := config.ParseDuration(lasts)
				if err != nil || d <= 0 {
					return fmt.Errorf("cannot use --for %s: it must be a duration above 0, like 90m, 1h or 1d", lasts)
				}
				query.Set("for", d.String())
			}
			c, err := o.order(cmd, "/hold", query)
			if err != nil {
				return err
			}
			until := "until \"pmg release " + printable(c.Connector) + "\""
			if c.Held != nil && !c.Held.Until.IsZero() {
				until = "until " + c.Held.Until.Local().Format(time.DateTime)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "nothing is sent to %s %s or a restart; %d messages wait there\n", printable(c.Connector), until, c.Queued)
			return nil
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&lasts, "for", "", "how long, as a `duration`: 90m, 1h, 1d; without it until pmg release")
	return cmd
}

func newReleaseCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "release CONNECTOR",
		Short: "Send messages again to an SMS centre that is held",
		Long: `Asks a running gateway at its admin address to end what "pmg hold" has begun: messages
that wait leave by the connector again.`,
		Example: "  pmg release operator",
		Args:    oneArg("the name of a connector, as in the configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.order(cmd, "/release", url.Values{"connector": {args[0]}})
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "messages are sent to %s again; %d wait there, and %d of %d sessions are open\n", printable(c.Connector), c.Queued, c.Sessions, c.Instances)
			}
			return err
		},
	}
	o.flags(cmd)
	return cmd
}

func newConnectCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "connect CONNECTOR",
		Short: "Connect to an SMS centre now, without waiting for the next attempt",
		Long: `Asks a running gateway at its admin address to connect those sessions of a connector now
that wait for their next attempt after a failure, as "pmg status" shows it. The pauses
between further attempts stay as they were.`,
		Example: "  pmg connect operator",
		Args:    oneArg("the name of a connector, as in the configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.order(cmd, "/connect", url.Values{"connector": {args[0]}})
			if err != nil {
				return err
			}
			if c.Sessions >= c.Instances {
				fmt.Fprintf(cmd.OutOrStdout(), "all %d sessions of %s are open\n", c.Instances, printable(c.Connector))
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is being connected: %d of %d sessions were open; pmg status shows what comes of it\n", printable(c.Connector), c.Sessions, c.Instances)
			return nil
		},
	}
	o.flags(cmd)
	return cmd
}

// order sends an order about a connector to the gateway.
func (o *statusOptions) order(cmd *cobra.Command, path string, query url.Values) (*admin.Ordered, error) {
	if err := o.find(cmd); err != nil {
		return nil, err
	}
	c := new(admin.Ordered)
	return c, askAdmin(cmd.Context(), o.address, http.MethodPost, path+"?"+query.Encode(), c)
}
