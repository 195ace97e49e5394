package webhooks

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/gateway/operate"
	"pmg/internal/timetext"
	"pmg/sms"
)

// letters are the flags that select dead letters.
type letters struct {
	account, endpoint, kind string
	since, until            string
	limit                   int
}

func (o *letters) flags(cmd *cobra.Command, limit int) {
	f := cmd.Flags()
	f.StringVar(&o.account, "account", "", "only those for servers of this account")
	f.StringVar(&o.endpoint, "endpoint", "", "only those for this `server`, as pmg webhooks list shows it")
	f.StringVar(&o.kind, "kind", "", "only these: `mo`, receipt, or what a receipt says, such as delivered")
	f.StringVar(&o.since, "since", "", "only those that came at this `time` or later: 10m or 7d (ago), 19:05, 2026-11-20 or 2026-11-20T19:05:22")
	f.StringVar(&o.until, "until", "", "only those that came before this `time`, written as for --since")
	f.IntVar(&o.limit, "limit", limit, "stop after this number; 0 is no limit")
}

// isAll reports whether nothing is selected.
func (o *letters) isAll(ids []string) bool {
	return len(ids) == 0 && o.account == "" && o.endpoint == "" && o.kind == "" && o.since == "" && o.until == ""
}

// query returns the query that the flags select.
func (o *letters) query(ids []string, now time.Time) (q admin.QueueQuery, err error) {
	q.State, q.Account, q.Connector = operate.StateDead, o.account, o.endpoint
	switch o.kind {
	case "mo", "receipt":
		q.Kind = o.kind
	default:
		q.Delivery = strings.TrimPrefix(o.kind, "message.")
	}
	if q.Since, err = timetext.ParseTime(o.since, now); err == nil {
		q.Until, err = timetext.ParseTime(o.until, now)
	}
	if err == nil && o.limit < 0 {
		err = errors.New("--limit must not be negative")
	}
	for _, text := range ids {
		id, wrong := sms.ParseID(strings.TrimPrefix(text, "evt_"))
		if wrong != nil {
			err = wrong
		}
		q.IDs = append(q.IDs, id)
	}
	if err != nil {
		return q, fmt.Errorf("cannot select dead letters: %w", err)
	}
	return q, nil
}

// each calls f for each dead letter of a query, which lists or changes them. more reports that the limit cut the list
// off, so that there may be others.
func (o *letters) each(
	ask Ask, method, path string, q admin.QueueQuery, dryRun bool, f func(*operate.StoredMessage) error,
) (n int, more bool, err error) {
	more, err = q.Pages(o.limit, func(q admin.QueueQuery) (page operate.QueuePage, err error) {
		v := q.Values()
		if dryRun {
			v.Set("dry_run", "1")
		}
		return page, ask(method, path+"?"+v.Encode(), &page)
	}, func(page operate.QueuePage) error {
		for i := range page.Messages {
			n++
			if err := f(&page.Messages[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return n, more, err
}

func deadCommand(p Program) *cobra.Command {
	var o letters
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dead [ID]...",
		Short: "List dead letters: events that were not delivered in time",
		Long: `Lists dead letters: events that were not accepted within receipts.callback_validity, the first
100 unless --limit is set. They do not wait, and are deleted after receipts.dead_letters.`,
		Example: "  pmg webhooks dead\n  pmg webhooks dead --account shop --since 24h --limit 0 --json",
	}
	ask := p.Gateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q, err := o.query(args, time.Now())
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		var all []operate.StoredMessage
		n, more, err := o.each(ask, http.MethodGet, admin.Base+"/queue", q, false, func(m *operate.StoredMessage) error {
			if asJSON {
				return p.JSON(out, m)
			}
			all = append(all, *m)
			return nil
		})
		if err != nil || asJSON {
			return err
		}
		end := ""
		if more {
			end = "; there may be more: --limit 0 lists all"
		}
		_, err = fmt.Fprintf(out, "%s%s%s\n", lettersText(p, all, time.Now()), count(n), end)
		return err
	}
	o.flags(cmd, 100)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

// count returns "1 dead letter" or "n dead letters".
func count(n int) string {
	if n == 1 {
		return "1 dead letter"
	}
	return fmt.Sprintf("%d dead letters", n)
}

func lettersText(p Program, all []operate.StoredMessage, now time.Time) string {
	var rows [][]string
	for i := range all {
		m := &all[i]
		says := m.Kind
		if m.Delivery != "" {
			says = m.Delivery
		}
		rows = append(
			rows,
			[]string{
				"evt_" + m.ID, m.About, m.Receiver, m.Connector, says, m.Source, m.Dest, ago(&m.Arrived, now),
				ago(m.DeadSince, now), number(int64(m.Attempts)), m.Reason,
			},
		)
	}
	return p.Table(
		7,
		[]string{
			"event", "message", "account", "server", "says", "source", "destination", "age", "dead for", "attempts",
			"because",
		},
		rows,
	)
}

// changeCommand returns a command that replays or deletes dead letters.
func changeCommand(p Program, cmd *cobra.Command, what, done string) *cobra.Command {
	var o letters
	var all, dryRun bool
	ask := p.Gateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q, err := o.query(args, time.Now())
		if err != nil {
			return err
		}
		if o.isAll(args) && !all {
			return fmt.Errorf(
				"cannot %s dead letters: name their ids, or select them with flags; --all selects every one", cmd.Name(),
			)
		}
		return o.change(cmd.OutOrStdout(), ask, p, q, what, done, dryRun)
	}
	o.flags(cmd, 0)
	cmd.Flags().BoolVar(&all, "all", false, "every dead letter, if nothing else selects some")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "list the dead letters, and change nothing")
	return cmd
}

func (o *letters) change(out io.Writer, ask Ask, p Program, q admin.QueueQuery, what, done string, dryRun bool) error {
	var listed []operate.StoredMessage
	changed, named := 0, len(q.IDs)
	n, _, err := o.each(ask, http.MethodPost, admin.Base+"/queue/"+what, q, dryRun, func(m *operate.StoredMessage) error {
		switch {
		case dryRun:
			listed = append(listed, *m)
		case m.Result == operate.ResultRetried || m.Result == operate.ResultDeleted:
			changed++
		default:
			listed = append(listed, *m)
			listed[len(listed)-1].Reason = m.Result
		}
		return nil
	})
	if _, werr := io.WriteString(out, lettersText(p, listed, time.Now())); err == nil {
		err = werr
	}
	if dryRun {
		fmt.Fprintf(out, "%s would be %s; nothing was changed\n", count(n), done)
	} else {
		fmt.Fprintf(out, "%s %s\n", count(changed), done)
	}
	if err == nil && n < named {
		err = fmt.Errorf("%d of %d are no dead letters, or the flags exclude them", named-n, named)
	}
	return err
}

func replayCommand(p Program) *cobra.Command {
	return changeCommand(p, &cobra.Command{
		Use:   "replay [ID]...",
		Short: "Deliver dead letters after all",
		Long: `Puts the dead letters with these ids, or those that the flags select, back into the queues of
their accounts' present servers. They wait up to receipts.callback_validity again, and keep
their webhook-id, so that a server recognises events that it has already accepted.`,
		Example: "  pmg webhooks replay --account shop --since 24h --dry-run\n  pmg webhooks replay evt_1a1fb0c12c230d41",
	}, operate.RetryMessages, "replayed")
}

func deleteCommand(p Program) *cobra.Command {
	return changeCommand(p, &cobra.Command{
		Use:     "delete [ID]...",
		Short:   "Delete dead letters",
		Long:    "Deletes the dead letters with these ids, or those that the flags select: their servers\nnever get them.",
		Example: "  pmg webhooks delete --endpoint https://old.example.net --dry-run",
	}, operate.DeleteMessages, "deleted")
}
