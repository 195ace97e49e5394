package webhooks

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/gateway/webhooks"
)

func listCommand(p Program) *cobra.Command {
	var account string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List webhooks: their state, and what waits for them",
		Long: `Lists the servers: the number of events that wait for each and for how long, the calls under
way, the consecutive failures and the rest after them; the numbers of accepted and failed
calls, the times of the last ones, and the reason of the last failure.`,
		Example: "  pmg webhooks list\n  pmg webhooks list --account shop --json | jq .last_error",
		Args:    cobra.NoArgs,
	}
	ask := p.Gateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var rows []webhooks.Row
		if err := ask(http.MethodGet, admin.Base+"/webhooks?"+url.Values{"account": {account}}.Encode(), &rows); err != nil {
			return err
		}
		if asJSON {
			return writeAll(cmd.OutOrStdout(), p, rows)
		}
		_, err := io.WriteString(cmd.OutOrStdout(), cmp.Or(rowsText(p, rows, time.Now()), "no server was called yet\n"))
		return err
	}
	cmd.Flags().StringVar(&account, "account", "", "only those of this account")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

// writeAll writes an object in each line.
func writeAll[T any](out io.Writer, p Program, all []T) error {
	for i := range all {
		if err := p.JSON(out, all[i]); err != nil {
			return err
		}
	}
	return nil
}

func rowsText(p Program, rows []webhooks.Row, now time.Time) string {
	var cells [][]string
	for i := range rows {
		r := &rows[i]
		rests := "-"
		if r.Disabled != nil {
			rests = "gone (410)"
		} else if r.RestsUntil != nil {
			rests = max(0, r.RestsUntil.Sub(now)).Round(time.Second).String()
		}
		cells = append(cells,
			[]string{r.Account, r.Endpoint, number(r.Waiting), ago(r.Oldest, now), number(int64(r.UnderWay)),
				number(int64(r.Failures)),
				rests, number(r.Succeeded), number(r.Failed), ago(r.LastSuccess, now), ago(r.LastFailure, now),
				cmp.Or(r.LastError, "-")})
	}
	return p.Table(
		2,
		[]string{
			"account", "server", "waiting", "oldest", "calls", "failures in a row", "rests", "taken", "failed", "last taken",
			"last failed", "because it",
		},
		cells,
	)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// ago returns the time since at, for people.
func ago(at *time.Time, now time.Time) string {
	if at == nil {
		return "-"
	}
	return max(0, now.Sub(*at)).Round(time.Second).String()
}

func attemptsCommand(p Program) *cobra.Command {
	var account, endpoint, id string
	var limit int
	var replies, asJSON bool
	cmd := &cobra.Command{
		Use:   "attempts",
		Short: "List the last deliveries",
		Long: `Lists the last attempts, up to 100 for each server, the newest first: a call with several
events is an attempt for each. The gateway remembers them for the 200 servers called last.

With --replies it shows the beginnings of the answers' bodies, which may contain texts of
messages: that needs a token with scope operate, or the socket.`,
		Example: "  pmg webhooks attempts --account shop --endpoint https://crm.example.net\n  pmg webhooks attempts " +
			"--id 1a1fb0c12c230d41 --replies\n  pmg webhooks attempts --json | jq 'select(.taken|not).error'",
		Args: cobra.NoArgs,
	}
	ask := p.Gateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 {
			return errors.New("cannot list attempts: --limit must be above 0")
		}
		v := url.Values{"account": {account}, "endpoint": {endpoint}, "id": {id}, "limit": {strconv.Itoa(limit)}}
		if replies {
			v.Set("replies", "1")
		}
		var all []webhooks.Attempt
		if err := ask(http.MethodGet, admin.Base+"/webhooks/attempts?"+v.Encode(), &all); err != nil {
			return err
		}
		if asJSON {
			return writeAll(cmd.OutOrStdout(), p, all)
		}
		_, err := io.WriteString(cmd.OutOrStdout(), cmp.Or(attemptsText(p, all, replies), "no attempts\n"))
		return err
	}
	f := cmd.Flags()
	f.StringVar(&account, "account", "", "only those at servers of this account")
	f.StringVar(&endpoint, "endpoint", "", "only those at this `server`, as pmg webhooks list shows it")
	f.StringVar(&id, "id", "", "only those about the message, or the event, with this id")
	f.IntVar(&limit, "limit", 100, "most attempts to show")
	f.BoolVar(&replies, "replies", false, "show the replies of the servers, which are private")
	f.BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

func attemptsText(p Program, all []webhooks.Attempt, replies bool) string {
	head := []string{"time", "account", "server", "event", "message", "type", "attempt", "status", "ms", "it"}
	if replies {
		head = append(head, "reply")
	}
	var rows [][]string
	for i := range all {
		a := &all[i]
		status, says := "-", "has it"
		if a.Status != 0 {
			status = strconv.Itoa(a.Status)
		}
		if !a.Taken {
			says = a.Error
		}
		row := []string{
			a.At.Local().Format("2006-01-02 15:04:05.000"), a.Account, a.Endpoint, a.Event, a.ID, a.Type,
			strconv.Itoa(a.Number), status, number(a.Milliseconds), says,
		}
		if replies {
			row = append(row, a.Reply)
		}
		rows = append(rows, row)
	}
	return p.Table(6, head, rows)
}
