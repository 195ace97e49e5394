// Package webhooks is pmg webhooks: it shows the webhooks that a gateway calls, and replays or deletes their dead
// letters.
//
// # Start reading
//
// Command in command.go, then list.go, letters.go and act.go.
package webhooks

import (
	"io"

	"github.com/spf13/cobra"
)

// An Ask sends a request to the admin listener of a gateway, and reads the answer into v.
type Ask func(method, path string, v any) error

// A Program is the part of pmg that the commands use.
type Program struct {
	Gateway func(*cobra.Command) Ask // adds the flags that select the gateway
	JSON    func(io.Writer, any) error
	Table   func(left int, head []string, rows [][]string) string
}

// Command returns pmg webhooks.
func Command(p Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhooks",
		Short: "Show webhook deliveries and dead letters",
		Long: `Each server of a client that is called with events, at the webhook of its account or at the
URL of a message, has its own queue. The commands ask the running gateway at
--address, or else at the socket or the address of the configuration's section admin.

list and attempts cover the time since the gateway's start. An event that a server did not
accept in time (receipts.callback_validity) is a dead letter, which stays in the store until it
is replayed, deleted, or expires (receipts.dead_letters). pmg queue lists and changes waiting
events (--kind receipt), and pmg trace shows the calls in the pdu logs.`,
		Example: "  pmg webhooks list\n  pmg webhooks attempts --account shop\n  pmg webhooks attempts --id " +
			"1a1fb0c12c230d41 --replies\n  pmg webhooks replay --account shop --since 24h",
	}
	cmd.AddCommand(
		listCommand(p), attemptsCommand(p), deadCommand(p), replayCommand(p), deleteCommand(p), enableCommand(p),
		retryCommand(p), testCommand(p),
	)
	return cmd
}
