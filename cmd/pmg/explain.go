package main

import (
	"io"

	"github.com/spf13/cobra"

	"pmg/admin/web"
	"pmg/cmd/pmg/ask"
	"pmg/cmd/pmg/explain"
	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

func newExplainCommand() *cobra.Command {
	var file string
	var q explain.Question
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show what a gateway would do with a message",
		Long: `Shows how a gateway with the configuration would handle a message: the rules of rewrite that
have an effect, the lists, the validity and the receipts that it gets, the route with its
targets, and for each target the addresses, the coding of the text, and the number of short
messages; or the step that refuses the message, and the reason. pmg stages prints the steps.

The message takes the steps in a separate gateway without sockets and without a disk.
Nothing is sent, and it is not known which targets are up.

The TON and NPI of addresses follow from their form. The text is assumed to arrive in the
default alphabet of its connector, or in UCS-2. --pdu describes a message with all its fields,
as a line of the pdu log; of several recipients the first is explained.`,
		Example: `  pmg explain --from PMG --to 0170123456
  pmg explain -c new.yaml --account acme --from 12345 --to +49170123456 --text "Grüße"
  pmg explain --connector operator --from 49170123456 --to 12345
  pmg explain --account acme --to 49170123456 --deliver-in 48h --validity 24h
  pmg explain --pdu 'submit_sm source_addr=12345 destination_addr=49170 short_message="Hi"'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(io.Discard, file)
			if err != nil {
				return err
			}
			answer, err := explain.Ask(c, newDriver, q)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), answer)
			return err
		},
	}
	ask.Flag(cmd, &file)
	f := cmd.Flags()
	f.StringVar(&q.From, "from", "", "the message's source `address`; none when not given")
	f.StringVar(&q.To, "to", "", "its destination `address`")
	f.StringVar(&q.Account, "account", "", "the client that submits it; the only one when not given")
	f.StringVar(
		&q.Connector, "connector", "",
		"the connector that it arrives on: an out connector for a message from an SMSC; the first that the account may "+
			"use when not given",
	)
	f.StringVar(&q.Text, "text", "", "its text")
	f.DurationVar(&q.DeliverIn, "deliver-in", 0, "time until its delivery time; immediately when not given")
	f.DurationVar(&q.Validity, "validity", 0, "its validity; none when not given")
	f.StringVar(&q.PDU, "pdu", "", "the `PDU` of the message, written as in the pdu log, instead of the flags for its fields")
	return cmd
}

// explain answers a question of the operators' pages, with what the gateway knows of the quality of targets.
func (s *server) explain(c *config.Config, q web.Question) (string, error) {
	return explain.Ask(c, newDriver, explain.Question{
		Account: q.Account, Connector: q.Connector, From: q.From, To: q.To, Text: q.Text,
		Quality: func(name string, n sms.Network) (int, bool) {
			if one := s.gateway.Table.Connector(name); one != nil {
				return one.Stats.Networks.Quality(n)
			}
			return connector.MostQuality, false
		},
	})
}
