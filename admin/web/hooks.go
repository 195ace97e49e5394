package web

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"pmg/gateway/operate"
	"pmg/gateway/webhooks"
)

// hooksName is the name of the page about the webhooks of an account.
const hooksName = "webhooks/{name}"

// The numbers of attempts and of dead letters on the page about an account's webhooks.
const (
	mostAttempts = 100
	mostLetters  = 100
)

// A hooksPage is the model of the page about the webhooks of one account.
type hooksPage struct {
	Name     string
	Servers  []serverRow
	Attempts []webhooks.Attempt // calls, the latest first
	Dead     int64              // number of dead letters
	Letters  []letterRow
	Disabled bool // a server is disabled
	Late     bool // events wait for a server that fails or rests
	Replies  bool // the page shows the servers' replies
}

// A serverRow is a server that is called, with figures derived from its times.
type serverRow struct {
	webhooks.Row
	State  string
	Oldest float64 // age of the oldest event, in seconds
}

// A letterRow is a dead letter.
type letterRow struct {
	operate.StoredMessage
	Says string
}

// hooks shows the servers of an account, their last calls, and the events that they did not take in time. A
// server's reply may be the text of a message: replies are shown on request to users who may see texts, and
// the request is in the audit log (private).
func (d *details) hooks(r *http.Request) any {
	g, p := d.server.Gateway(), hooksPage{Name: r.PathValue("name")}
	if g.Table.Account(p.Name) == nil {
		return nil
	}
	p.Replies = r.FormValue("replies") != "" // private refuses the parameter of users who may not see texts
	now := time.Unix(0, g.Node.Clock.WallNow())
	for _, row := range g.Webhooks.Rows(p.Name) {
		one := serverRow{Row: row, State: serverState(&row)}
		if row.Oldest != nil {
			one.Oldest = now.Sub(*row.Oldest).Seconds()
		}
		p.Disabled = p.Disabled || row.Disabled != nil
		p.Late = p.Late || row.Disabled == nil && row.Waiting > 0 && (row.RestsUntil != nil || row.Failures > 0)
		p.Servers = append(p.Servers, one)
	}
	p.Attempts = g.Webhooks.Attempts(
		webhooks.Filter{Account: p.Name, ID: r.FormValue("id"), Limit: mostAttempts, Replies: p.Replies},
	)
	p.Dead, p.Letters = g.Settler.Dead.Counts()[p.Name], d.letters(p.Name)
	return p
}

// letters returns the last dead letters of an account.
func (d *details) letters(account string) (rows []letterRow) {
	g := d.server.Gateway()
	ids := g.Settler.Dead.Of(account, mostLetters)
	if len(ids) == 0 {
		return nil
	}
	page, err := g.Operate.ListStored(operate.Selection{State: operate.StateDead, IDs: ids}, 0, len(ids))
	if err != nil {
		g.Node.Log.Error().Err(err).Str("account", account).Msg("cannot list dead letters")
	}
	for _, m := range slices.Backward(page.Messages) {
		rows = append(rows, letterRow{m, cmp.Or(m.Delivery, "a message from a mobile")})
	}
	return rows
}

// serverState returns the state of a server in a word.
func serverState(row *webhooks.Row) string {
	switch {
	case row.Disabled != nil:
		return "disabled"
	case row.RestsUntil != nil:
		return "resting"
	case row.Failures > 0:
		return "failing"
	}
	return "ok"
}
