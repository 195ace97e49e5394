package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/gateway/operate"
	"pmg/internal/console"
)

// listed is the number of messages that pmg queue list shows without --limit.
const listed = 100

func newQueueListCommand() *cobra.Command {
	var o queueOptions
	cmd := &cobra.Command{
		Use:   "list [ID]...",
		Short: "List messages that wait",
		Long: "Lists the messages in the store in the order in which they came, the first 100 unless\n--limit says " +
			"otherwise. Texts are shown by pmg queue show alone, and with --json, if\n--text is set.",
		Example: "  pmg queue list\n  pmg queue list --state quarantined --json | jq -r .reason\n  pmg queue list " +
			"--connector operator --destination 467 --older 1h --limit 0",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args, func(ctx context.Context, source queueSource) (int, error) {
				if o.asJSON {
					return o.writeMessages(
						ctx, source, func(m *operate.StoredMessage) error { return writeJSON(cmd.OutOrStdout(), m) },
					)
				}
				return o.writeTable(ctx, source, cmd)
			})
		},
	}
	o.flags(cmd, listed)
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON, one object per line")
	cmd.Flags().BoolVar(&o.query.Text, "text", false, "with --json, write the texts of messages too, which are private")
	return cmd
}

func newQueueShowCommand() *cobra.Command {
	var o queueOptions
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show what is known of a message that waits",
		Long:    "Shows all that the store has of a message, with its text if --text is set.",
		Example: "  pmg queue show 1a1fb0c12c230d41\n  pmg queue show 1a1fb0c12c230d41 --text",
		Args:    ask.Exactly(1, "the id of a message, as logs and pmg queue list show it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args, func(ctx context.Context, source queueSource) (int, error) {
				return o.writeMessages(ctx, source, func(m *operate.StoredMessage) error {
					writeMessage(cmd.OutOrStdout(), m)
					return nil
				})
			})
		},
	}
	o.storeOptions.flags(cmd)
	cmd.Flags().BoolVar(&o.query.Text, "text", false, "show the text of the message too, which is private")
	return cmd
}

// run calls f with the selected source of messages. f returns the number of messages found.
func (o *queueOptions) run(cmd *cobra.Command, ids []string, f func(context.Context, queueSource) (int, error)) error {
	if err := o.check(ids); err != nil {
		return err
	}
	source, err := o.find(cmd)
	if err != nil {
		return err
	}
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	o.remarks = cmd.ErrOrStderr()
	n, err := f(ctx, source)
	if err == nil && n == 0 {
		err = o.checkNames(ctx, source)
	}
	if err = errors.Join(err, source.close()); err != nil {
		return err
	}
	return o.missing(n)
}

func (o *queueOptions) lists(ctx context.Context, source queueSource) func(admin.QueueQuery) (operate.QueuePage, error) {
	return func(q admin.QueueQuery) (operate.QueuePage, error) { return source.list(ctx, q) }
}

// writeTable writes a table of the messages, a page at a time.
func (o *queueOptions) writeTable(ctx context.Context, source queueSource, cmd *cobra.Command) (n int, err error) {
	out := cmd.OutOrStdout()
	more, err := o.each(ctx, o.lists(ctx, source), func(p operate.QueuePage) error {
		t := newQueueTable()
		t.headless = n > 0
		for i := range p.Messages {
			t.addMessage(&p.Messages[i])
		}
		n += len(p.Messages)
		_, err := io.WriteString(out, tableText(t.table))
		return err
	})
	switch {
	case err != nil:
	case n == 0 && o.checkNames(ctx, source) == nil:
		fmt.Fprintln(out, "no messages")
	case n == 0:
	case more:
		fmt.Fprintf(out, "%s; there may be more: --limit 0 lists all\n", messages(n))
	default:
		fmt.Fprintln(out, messages(n))
	}
	return n, err
}

// writeMessages calls write for each message, and returns their number.
func (o *queueOptions) writeMessages(
	ctx context.Context, source queueSource, write func(m *operate.StoredMessage) error,
) (n int, err error) {
	_, err = o.each(ctx, o.lists(ctx, source), func(p operate.QueuePage) error {
		for i := range p.Messages {
			if err := write(&p.Messages[i]); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// A queueTable is a table of messages.
type queueTable struct {
	*table
	now time.Time
}

func newQueueTable() queueTable {
	return queueTable{
		newTable(8, "id", "state", "waits for", "account", "from", "kind", "source", "destination", "age", "attempts", "octets"),
		time.Now(),
	}
}

func (t queueTable) addMessage(m *operate.StoredMessage) {
	t.add(m.ID, m.State, waitsFor(m.Connector, m.Receiver), dash(m.Account), dash(m.From), dash(m.Kind), dash(m.Source),
		dash(m.Dest),
		span(t.now.Sub(m.Arrived).Round(time.Second).Seconds()), count(int64(m.Attempts)), count(int64(m.Octets)))
}

// waitsFor returns the peer that messages wait for.
func waitsFor(connector, receiver string) string {
	switch {
	case receiver != "" && connector != "": // waits for a webhook of a client
		return connector + " of account " + receiver
	case receiver != "":
		return "account " + receiver
	}
	return dash(connector)
}

// writeMessage writes the fields of a message, one in each line.
func writeMessage(out io.Writer, m *operate.StoredMessage) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "%-13s %s\n", name, console.Escaped(value))
		}
	}
	at := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	line("id", m.ID)
	line("state", m.State)
	line("reason", m.Reason)
	if m.State == operate.StateUnreadable {
		return
	}
	line("waits for", waitsFor(m.Connector, m.Receiver))
	line("account", m.Account)
	line("from", m.From)
	line("kind", m.Kind)
	line("source", m.Source)
	line("destination", m.Dest)
	line("priority", count(int64(m.Priority)))
	line("attempts", count(int64(m.Attempts)))
	line("arrived", at(&m.Arrived))
	line("deliver at", at(m.DeliverAt))
	line("next attempt", at(m.NextAttempt))
	line("expires", at(m.Expires))
	line("dead since", at(m.DeadSince))
	line("about", m.About)
	line("delivery", m.Delivery)
	line("price", m.Price)
	line("octets", count(int64(m.Octets)))
	if m.Text != nil {
		fmt.Fprintf(out, "%-13s %s\n", "text", console.Escaped(*m.Text))
	}
}
