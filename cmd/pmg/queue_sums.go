package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/gateway/operate"
	"pmg/internal/console"
)

func newQueueSumsCommand() *cobra.Command {
	var o storeOptions
	var over time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sums",
		Short: "Show how many messages wait, by destination and origin, and for how long",
		Long: `Sums up the waiting messages, by their destination (a connector, or the clients of an account)
and by the account that they came from: their number, the age of the first one, the rate at
which the peer accepts messages, and the time for all at that rate. The rate is measured over
--over, while the command waits; "-" means that no message was accepted meanwhile. Messages
with a later delivery time are not counted.`,
		Example: "  pmg queue sums\n  pmg queue sums --over 10s\n  pmg queue sums --json | jq -r 'select(.receiver == " +
			"\"acme\") | .messages'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if over < 0 {
				return fmt.Errorf("cannot use --over %v: it must not be negative", over)
			}
			running, err := o.findRunning(cmd)
			if err != nil {
				return err
			}
			ctx, stop := console.Interruptible(cmd.Context())
			defer stop()
			before, now, err := sumsOf(ctx, running, over)
			if err != nil {
				return err
			}
			return writeSums(cmd.OutOrStdout(), before, now, over, asJSON)
		},
	}
	o.flags(cmd)
	cmd.Flags().DurationVar(&over, "over", 2*time.Second, "measure the rate over this `time`; 0s: no rate")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

// sumsOf returns the sums of now, and the sums of some time ago.
func sumsOf(ctx context.Context, running runningStore, over time.Duration) (before, now []operate.QueueSum, err error) {
	if over > 0 {
		if before, err = running.sums(ctx); err != nil {
			return nil, nil, err
		}
		select {
		case <-time.After(over):
		case <-ctx.Done():
			return nil, nil, errors.New("interrupted")
		}
	}
	now, err = running.sums(ctx)
	return before, now, err
}

func (s runningStore) sums(ctx context.Context) (sums []operate.QueueSum, err error) {
	return sums, askAdmin(ctx, s.gateway, http.MethodGet, admin.Base+"/queue/sums", &sums)
}

func writeSums(out io.Writer, before, now []operate.QueueSum, over time.Duration, asJSON bool) error {
	if asJSON {
		for i := range now {
			if err := writeJSON(out, &now[i]); err != nil {
				return err
			}
		}
		return nil
	}
	taken, waits := map[string]int64{}, map[string]int64{}
	for i := range before {
		taken[waitsFor(before[i].Connector, before[i].Receiver)] = before[i].Taken
	}
	for i := range now {
		waits[waitsFor(now[i].Connector, now[i].Receiver)] += now[i].Messages
	}
	t := newTable(3, "waits for", "from", "state", "messages", "oldest", "taken/s", "all in")
	total := int64(0)
	for i := range now {
		s := &now[i]
		peer, age, perSecond, left := waitsFor(s.Connector, s.Receiver), "-", "-", "-"
		if s.Oldest != nil {
			age = span(time.Since(*s.Oldest).Round(time.Second).Seconds())
		}
		if was, ok := taken[peer]; ok && s.Taken > was {
			each := float64(s.Taken-was) / over.Seconds()
			perSecond, left = fmt.Sprintf("%.1f", each), span(max(1, float64(waits[peer])/each))
		}
		t.add(peer, dash(sumOrigin(s)), s.State, count(s.Messages), age, perSecond, left)
		total += s.Messages
	}
	fmt.Fprint(out, tableText(t))
	_, err := fmt.Fprintln(out, messages(int(total))+" wait")
	return err
}

func sumOrigin(s *operate.QueueSum) string {
	if s.Account == "" && s.From != "" {
		return "connector " + s.From
	}
	return s.Account
}

// names returns the names of the connectors and accounts that messages may wait for.
func (s runningStore) names(ctx context.Context) (connectors, accounts []string, clients map[string]bool, err error) {
	status := new(admin.Status)
	if err := askAdmin(ctx, s.gateway, http.MethodGet, admin.Base+"/status", status); err != nil {
		return nil, nil, nil, err
	}
	clients = map[string]bool{}
	for _, c := range status.Connectors {
		connectors = append(connectors, c.Name)
		clients[c.Name] = c.Direction == "in"
	}
	for _, a := range status.Accounts {
		accounts = append(accounts, a.Name)
	}
	return connectors, accounts, clients, nil
}
