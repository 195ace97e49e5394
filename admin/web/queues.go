package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pmg/gateway/operate"
	"pmg/internal/figuretext"
)

// A queueRow counts the messages that wait for one peer and came from one origin.
type queueRow struct {
	Key                 string
	State               string // state of the messages
	Connector, Receiver string // the lane's connector or receiver; both empty: the messages wait for an operator
	Account, From       string // origin of the messages: an account, or a connector
	Messages            int64
	Part                string // share of the messages that wait for the peer
	IsSMSC              bool   // the page can move and retry the connector's messages
	Oldest              float64
	Taken, Left         string // messages taken a second, and the remaining time at that rate
}

// queues shows waiting messages, by peer and origin.
func (l *lists) queues(r *http.Request) any {
	rows := queueRows(l.server.Gateway().Operate.QueueSums(l.server.Engine().Counters().Now), time.Now())
	status := l.server.Status(false)
	taken := map[string]int64{}
	for i := range status.Connectors {
		taken["connector "+status.Connectors[i].Name] = status.Connectors[i].Sent
	}
	for i := range status.Accounts {
		taken["account "+status.Accounts[i].Name] = status.Accounts[i].Delivered
	}
	waits := map[string]int64{}
	for i := range rows {
		waits[rows[i].peer()] += rows[i].Messages
	}
	for i := range rows {
		one := &rows[i]
		peer := one.peer()
		one.Part, one.IsSMSC = fmt.Sprintf("%.0f %%", 100*float64(one.Messages)/float64(max(waits[peer], 1))), one.Connector != ""
		if one.Taken, one.Left = "–", "–"; peer == "" {
			continue
		}
		one.Taken = l.queueSpeeds.rates(peer).of(status.Time, taken[peer])[0]
		if each, err := strconv.ParseFloat(one.Taken, 64); err == nil && each > 0 {
			one.Left = figuretext.Age(max(1, float64(waits[peer])/each))
		}
	}
	slices.SortStableFunc(rows, func(a, b queueRow) int { return cmp.Compare(b.Messages, a.Messages) })
	return tableOf(r, rows, func(q *queueRow) string {
		return q.State + " " + q.peer() + " " + q.Account + " " +
			q.From
	}, []column[queueRow]{
		{head: "for", text: func(q *queueRow) string { return q.peer() }},
		{head: "from", text: func(q *queueRow) string { return q.Account + q.From }},
		{head: "messages", number: func(q *queueRow) float64 { return float64(q.Messages) }},
		{head: "oldest", number: func(q *queueRow) float64 { return q.Oldest }},
	}...)
}

// queueRows returns a row for each peer and origin. A peer may have several lanes, one for each of its servers.
func queueRows(sums []operate.QueueSum, now time.Time) (rows []queueRow) {
	at := map[string]int{}
	for i := range sums {
		sum := &sums[i]
		q := queueRow{State: sum.State, Connector: sum.Connector, Receiver: sum.Receiver, Account: sum.Account, From: sum.From}
		q.Key = fmt.Sprintf("%q", []string{q.State, q.Connector, q.Receiver, q.Account, q.From})
		k, known := at[q.Key]
		if !known {
			k = len(rows)
			at[q.Key] = k
			rows = append(rows, q)
		}
		rows[k].Messages += sum.Messages
		if sum.Oldest != nil {
			rows[k].Oldest = max(rows[k].Oldest, now.Sub(*sum.Oldest).Seconds())
		}
	}
	return rows
}

// peer returns the name of the peer that the messages wait for.
func (q *queueRow) peer() string {
	switch {
	case q.Connector != "":
		return "connector " + q.Connector
	case q.Receiver != "":
		return "account " + q.Receiver
	}
	return ""
}
