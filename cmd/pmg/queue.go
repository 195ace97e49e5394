package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/gateway/operate"
	"pmg/internal/console"
	"pmg/internal/nearest"
	"pmg/sms"
)

func newQueueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Sum up, list, show, delete, move or retry messages that wait",
		Long: `Messages in the store of a gateway have one of these states:

  queued       it waits for its connector or account, or is under way
  parked       it has no route (no_route: park)
  quarantined  a part of the gateway failed at it three times
  orphan       a receipt of an SMSC whose message is not known
  asked        a receipt that waits for a verdict of plugins (hook receipt); it is not changed
  dead         an event that its client's server did not accept in time (pmg webhooks):
               it does not wait, and is listed with --state dead or by its id only
  unreadable   its record is damaged; it is found by its id only

The commands ask the running gateway at --address, or else at the socket or the address of
the configuration's section admin. If none answers there, or with --store, list and show read the store of a
gateway that is stopped. A store in memory (store.engine: memory) does not list queued
messages.`,
		Example: `  pmg queue list --state parked
  pmg queue sums
  pmg queue show 1a1fb0c12c230d41
  pmg queue delete --connector operator --older 24h --dry-run
  pmg queue move --connector operator --to second
  pmg queue retry --state parked
  pmg queue list --account acme --limit 0 --text --json > acme.json`,
	}
	cmd.AddCommand(newQueueSumsCommand(), newQueueListCommand(), newQueueShowCommand(),
		newQueueChangeCommand(operate.DeleteMessages), newQueueChangeCommand(operate.MoveMessages),
		newQueueChangeCommand(operate.RetryMessages))
	return cmd
}

// queueOptions are the flags that select messages.
type queueOptions struct {
	storeOptions
	query   admin.QueueQuery
	limit   int // maximum number of messages, over all pages; 0: no limit
	asJSON  bool
	remarks io.Writer // the writer for remarks about the messages
}

func (o *queueOptions) flags(cmd *cobra.Command, limit int) {
	o.storeOptions.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.query.Connector, "connector", "", "only those that wait for this out connector")
	f.StringVar(&o.query.Account, "account", "", "only those that came from this account, or wait for its clients")
	f.StringVar(&o.query.Dest, "destination", "", "only those whose destination begins with these `digits`")
	f.DurationVar(&o.query.Older, "older", 0, "only those that arrived longer ago than this, such as 90m or 24h")
	f.StringVar(&o.query.State, "state", "", "only those in this `state`: "+strings.Join(queueStates(), ", "))
	f.StringVar(&o.query.Kind, "kind", "", "only those of this `kind`: submit, mo, receipt")
	f.IntVar(&o.limit, "limit", limit, "stop after this number of messages; 0 is no limit")
}

// queueStates are the values of --state.
func queueStates() []string {
	return []string{
		operate.StateQueued, operate.StateParked, operate.StateQuarantined, operate.StateOrphan, operate.StateAsked,
		operate.StateDead,
	}
}

func (o *queueOptions) check(ids []string) error {
	if s := o.query.State; s != "" && !slices.Contains(queueStates(), s) {
		return fmt.Errorf(
			"cannot select messages: there is no state %q; --state is one of %s", s, strings.Join(queueStates(), ", "),
		)
	}
	if k := o.query.Kind; k != "" && k != "submit" && k != "mo" && k != "receipt" {
		return fmt.Errorf("cannot select messages: there is no kind %q; --kind is submit, mo or receipt", k)
	}
	if o.limit < 0 || o.query.Older < 0 {
		return errors.New("cannot select messages: --limit and --older must not be negative")
	}
	for _, text := range ids {
		id, err := sms.ParseID(text)
		if err != nil {
			return err
		}
		o.query.IDs = append(o.query.IDs, id)
	}
	return nil
}

// checkNames returns an error if a running gateway has no connector or account with the selected names. A message may also
// wait for a connector that was removed, until it is routed again, so checkNames is called only if no message was found.
func (o *queueOptions) checkNames(ctx context.Context, source queueSource) error {
	running, ok := source.(runningStore)
	if !ok || o.query.Connector == "" && o.query.Account == "" {
		return nil
	}
	connectors, accounts, clients, err := running.names(ctx)
	if err != nil {
		return err
	}
	c, a := o.query.Connector, o.query.Account
	switch {
	case c != "" && clients[c]:
		return fmt.Errorf(
			"cannot select messages: connector %s is for clients, whose messages wait under the name of the account: "+
				"use --account",
			c,
		)
	case c != "" && !slices.Contains(connectors, c):
		return unknownName("connector", c, connectors)
	case a != "" && !slices.Contains(accounts, a):
		return unknownName("account", a, accounts)
	}
	return nil
}

func unknownName(what, name string, names []string) error {
	if near := nearest.Word(name, names); near != "" {
		return fmt.Errorf("cannot select messages: there is no %s %s; did you mean %s?", what, name, near)
	}
	return fmt.Errorf("cannot select messages: there is no %s %s; pmg status lists them", what, name)
}

// isAll reports whether nothing is selected.
func (o *queueOptions) isAll() bool {
	q := &o.query
	return len(q.IDs) == 0 && q.Connector == "" && q.Account == "" && q.Dest == "" && q.Older == 0 && q.State == "" &&
		q.Kind == ""
}

// each requests page after page, and calls f for the messages, up to the limit. more reports that the limit cut the
// list off, so that there may be others.
func (o *queueOptions) each(
	ctx context.Context, ask func(admin.QueueQuery) (operate.QueuePage, error), f func(operate.QueuePage) error,
) (more bool, err error) {
	said := false
	asked := func(q admin.QueueQuery) (page operate.QueuePage, err error) {
		if err = ctx.Err(); err == nil {
			page, err = ask(q)
		}
		return page, err
	}
	return o.query.Pages(o.limit, asked, func(page operate.QueuePage) error {
		if err := f(page); err != nil {
			return err
		}
		if page.Memory && !said {
			said = true
			fmt.Fprintln(o.remarks, "this gateway keeps queued messages in memory only (store.engine: memory), where they "+
				"cannot be listed or changed. Listed are the messages that were put aside")
		}
		return nil
	})
}

// missing returns an error if a named id was not found.
func (o *queueOptions) missing(n int) error {
	switch {
	case len(o.query.IDs) == 0 || n >= len(o.query.IDs):
		return nil
	case len(o.query.IDs) == 1:
		return fmt.Errorf(
			"there is no message %s: it has been sent or has ended otherwise, or the flags exclude it; pmg trace shows "+
				"how it ended",
			sms.FormatID(o.query.IDs[0]),
		)
	}
	return fmt.Errorf(
		"%d of %d messages are not there: they have been sent or have ended otherwise, or the flags exclude them; pmg "+
			"trace shows how they ended",
		len(o.query.IDs)-n, len(o.query.IDs),
	)
}

// queueVerbs are the past tenses of the changes, for texts.
func queueVerbs() map[string]string {
	return map[string]string{
		operate.DeleteMessages: operate.ResultDeleted, operate.MoveMessages: operate.ResultMoved,
		operate.RetryMessages: operate.ResultRetried,
	}
}

func newQueueChangeCommand(what string) *cobra.Command {
	var o queueOptions
	var all bool
	change := operate.QueueChange{What: what}
	cmd := &cobra.Command{
		Use: what + " [ID]...",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			if o.isAll() && !all {
				return fmt.Errorf(
					"cannot %s messages: name their ids, or select them with flags; --all selects every message", what,
				)
			}
			running, err := o.findRunning(cmd)
			if err != nil {
				return err
			}
			return runQueueChange(cmd, &o, running, change)
		},
	}
	switch what {
	case operate.DeleteMessages:
		cmd.Short = "Delete messages that wait"
		cmd.Long = "Deletes the messages with these ids, or those that the flags select. They count as\nfailed. A " +
			"message that is under way is left alone."
		cmd.Example = "  pmg queue delete 1a1fb0c12c230d41\n  pmg queue delete --state quarantined --older 24h --dry-run"
	case operate.MoveMessages:
		cmd.Short = "Move messages to the queue of another out connector"
		cmd.Long = "Moves the messages with these ids, or those that the flags select, whatever their\nroutes say. " +
			"Their attempts are forgotten. A message that is under way is left alone."
		cmd.Example = "  pmg queue move --connector operator --to second\n  pmg queue move 1a1fb0c12c230d41 --to second"
		cmd.Flags().StringVar(&change.To, "to", "", "the out `connector` that they are moved to")
		_ = cmd.MarkFlagRequired("to")
	default:
		cmd.Short = "Route messages again, and send them as if they had just come"
		cmd.Long = "Routes the messages with these ids, or those that the flags select, by the routes in\nforce, and " +
			"forgets their attempts: those that are parked or quarantined, and those that\nare queued; for an orphan " +
			"its message is looked for again. A message without a route,\nor that is under way, is left alone."
		cmd.Example = "  pmg queue retry --state parked\n  pmg queue retry --connector operator --older 1h"
	}
	o.flags(cmd, 0)
	cmd.Flags().BoolVar(&all, "all", false, "every message, if no other flag selects messages")
	cmd.Flags().BoolVar(&change.DryRun, "dry-run", false, "only list the messages")
	return cmd
}

// progressEvery is the interval of reports about a long change.
const progressEvery = 2 * time.Second

func runQueueChange(cmd *cobra.Command, o *queueOptions, source runningStore, change operate.QueueChange) error {
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	out := cmd.OutOrStdout()
	o.remarks = cmd.ErrOrStderr()
	results := map[string]int{}
	var matched, looked int
	said := time.Now()
	_, err := o.each(ctx, func(q admin.QueueQuery) (operate.QueuePage, error) { return source.change(ctx, q, change) },
		func(p operate.QueuePage) error {
			matched += len(p.Messages)
			looked += p.Looked
			t := newQueueTable()
			for i := range p.Messages {
				m := &p.Messages[i]
				results[m.Result]++
				switch {
				case change.DryRun:
					t.addMessage(m)
				case m.Result != queueVerbs()[change.What]:
					fmt.Fprintf(out, "%s: %s\n", console.Escaped(m.ID), console.Escaped(m.Result))
				}
			}
			if now := time.Now(); now.Sub(said) > progressEvery {
				said = now
				fmt.Fprintf(
					cmd.ErrOrStderr(), "%d messages looked at, %d %s\n", looked, results[queueVerbs()[change.What]],
					queueVerbs()[change.What],
				)
			}
			_, err := io.WriteString(out, tableText(t.table))
			return err
		})
	if change.DryRun {
		fmt.Fprintf(out, "%s would be %s; nothing was changed\n", messages(matched), queueVerbs()[change.What])
	} else {
		fmt.Fprintln(out, queueSummary(change.What, results))
	}
	if err != nil {
		return err
	}
	if matched == 0 {
		if err := o.checkNames(ctx, source); err != nil {
			return err
		}
	}
	return o.missing(matched)
}

// queueSummary returns a summary of a change as text.
func queueSummary(what string, results map[string]int) string {
	s := messages(results[queueVerbs()[what]]) + " " + queueVerbs()[what]
	for _, r := range []struct{ result, text string }{
		{operate.ResultUnderWay, "under way and left alone"}, {operate.ResultNoRoute, "without a route and left alone"},
		{operate.ResultGone, "ended meanwhile"}, {
			operate.ResultBad, "unreadable and left alone: delete them, or see pmg store check",
		},
	} {
		if n := results[r.result]; n > 0 {
			s += fmt.Sprintf("; %d %s", n, r.text)
		}
	}
	return s
}

// messages returns "1 message" or "n messages".
func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
