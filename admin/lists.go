package admin

import (
	"cmp"
	"slices"
	"time"

	"pmg/connector"
	"pmg/internal/figuretext"
	"pmg/sms"
)

// Networks are the networks of messages.
type Networks struct {
	Table *NetworkTable `json:"table,omitempty"` // nil: the gateway has no table
	By    []Network     `json:"by,omitempty"`    // networks, those with the most messages first
}

// NetworkTable is the status of the table of networks.
type NetworkTable struct {
	Rows     int    `json:"rows" metric:"rows" help:"Rows of the table of networks: prefixes and ranges."`
	Networks int    `json:"networks" metric:"networks" help:"Networks in the table of networks."`
	Octets   int    `json:"octets" metric:"octets" help:"Memory of the table of networks, in octets."`
	Reloads  int64  `json:"reloads" metric:"reloads_total" help:"Times that the file of the table was read again because it had changed."`
	Faults   int64  `json:"faults" metric:"problems_total" help:"Times that the file of the table had a new problem. The earlier table stays in force."`
	Problem  string `json:"problem,omitempty"` // problem of the present version of the file
}

// Network counts the outcomes since the start of messages to a network that left by a connector.
type Network struct {
	Network     string  `json:"network"` // MCC and MNC; OtherNetworks
	Name        string  `json:"name,omitempty"`
	Connector   string  `json:"connector"`
	Sent        int64   `json:"sent" metric:"sent_total" column:"sent" help:"Short messages to numbers of a network that the SMSC of a connector has accepted."`
	Delivered   int64   `json:"delivered" metric:"delivered_total" column:"delivered" help:"Receipts by the connector with the state delivered."`
	Undelivered int64   `json:"undelivered" metric:"undelivered_total" column:"undelivered" help:"Receipts by the connector with another final state."`
	Seconds     float64 `json:"delivery_seconds" metric:"delivery_seconds_total" help:"Sum of the times from the acceptance of delivered messages, or from their delivery time, to the receipt."`
}

// OtherNetworks stands for the networks beyond the number that is counted separately.
const OtherNetworks = "other"

// Share returns the share of delivered among the receipts, from 0 to 1. It reports false if there are no receipts.
func (n *Network) Share() (share float64, ok bool) {
	return figuretext.DeliveredShare(n.Delivered, n.Undelivered)
}

// Delay returns the average duration of a delivery, in seconds. It reports false if there was no delivery.
func (n *Network) Delay() (seconds float64, ok bool) {
	return n.Seconds / float64(max(n.Delivered, 1)), n.Delivered > 0
}

// networkTable returns the status of the table of networks, nil if the gateway has no table.
func (v *view) networkTable() *NetworkTable {
	s, ok := v.gateway.Intake.Networks.Status()
	if !ok {
		return nil
	}
	return &NetworkTable{s.Rows, s.Counts.Networks, s.Octets, s.Reloads, s.Faults, s.Problem}
}

// networks returns the outcomes of messages by network and connector, those with the most messages first.
func networks(all []*connector.Connector, nameOf func(sms.Network) string) (rows []Network) {
	for _, c := range all {
		for _, n := range c.Stats.Networks.Counts() {
			rows = append(rows, Network{
				Network: cmp.Or(n.Network.String(), OtherNetworks), Name: nameOf(n.Network), Connector: c.Name, Sent: n.Sent,
				Delivered: n.Delivered, Undelivered: n.Undelivered, Seconds: float64(n.Delay) / 1e9,
			})
		}
	}
	slices.SortStableFunc(rows, func(a, b Network) int { return cmp.Compare(b.Sent, a.Sent) })
	return rows
}

// maxNetworks is the number of networks of connectors that have metrics: those with the most messages.
const maxNetworks = 2000

// networkMetrics returns the metrics of the table of networks, and the metrics with the labels network and connector.
func networkMetrics() []metric {
	all := metricsOf(NetworkTable{}, "pmg_network_table_", nil, func(s *Status, f func(any, ...string)) {
		if s.Networks.Table != nil {
			f(s.Networks.Table)
		}
	})
	labels := []string{"network", "connector"}
	return append(all, metricsOf(Network{}, "pmg_network_", labels, func(s *Status, f func(any, ...string)) {
		rows := s.Networks.By[:min(len(s.Networks.By), maxNetworks)]
		for i := range rows {
			f(&rows[i], rows[i].Network, rows[i].Connector)
		}
	})...)
}

// NumberList is the status of a register of numbers.
type NumberList struct {
	Name     string `json:"name"`
	Entries  int    `json:"entries" metric:"entries" help:"Entries of the list's file: numbers, prefixes and names."`
	Added    int64  `json:"added" metric:"added" help:"Numbers that opt-outs and pmg list add have added to those of the list's file."`
	Removed  int64  `json:"removed" metric:"removed" help:"Numbers that were removed from the list in the same way, even if the file has them."`
	Octets   int    `json:"octets" metric:"octets" help:"Memory that the entries of the file take."`
	Hits     int64  `json:"hits" metric:"hits_total" help:"Messages whose number was on the list: those of block were refused, those of allow and senders were not."`
	Messages int64  `json:"messages" metric:"messages_total" help:"Messages from mobiles by the connectors of opt_out_from, which were searched for words of stop and start."`
	Replies  int64  `json:"replies" metric:"replies_total" help:"Replies to mobiles whose text has added them to the list, or removed them (stop_reply, start_reply)."`
	Reloads  int64  `json:"reloads" metric:"reloads_total" help:"Times that the file was read again because it had changed."`
	Faults   int64  `json:"faults" metric:"problems_total" help:"Times that the file, or the file of its changes, had a new problem. The earlier entries stay in force."`
	Problem  string `json:"problem,omitempty"` // problem of the present version of the file

	LastAdded *time.Time `json:"last_added,omitempty"` // when a number was last added beside the file; nil: never, or unknown
	LastStop  *time.Time `json:"last_stop,omitempty"`  // when a mobile last sent a word of stop that added its number; nil: never, or unknown
}

// lists returns the rows of the lists.
func (v *view) lists() (rows []NumberList) {
	for _, s := range v.gateway.Lists.Status() {
		rows = append(rows, NumberList{
			s.Name, s.Entries, s.Added, s.Removed, s.Octets, s.Hits, s.Messages, s.Replies, s.Reloads, s.Faults, s.Problem,
			timeOf(s.LastAdded), timeOf(s.LastStop),
		})
	}
	return rows
}

// timeOf returns a time of seconds since 1970, nil for 0.
func timeOf(seconds int64) *time.Time {
	if seconds == 0 {
		return nil
	}
	t := time.Unix(seconds, 0).UTC()
	return &t
}

// listMetrics returns the metrics that have the label list.
func listMetrics() []metric {
	labels := []string{"list"}
	all := metricsOf(NumberList{}, "pmg_list_", labels, func(s *Status, f func(any, ...string)) {
		for i := range s.Lists {
			f(&s.Lists[i], s.Lists[i].Name)
		}
	})
	last := func(of func(*NumberList) *time.Time) func(*Status, emitter) {
		return func(s *Status, e emitter) {
			for i := range s.Lists {
				if at := of(&s.Lists[i]); at != nil {
					e.value(float64(at.Unix()), s.Lists[i].Name)
				}
			}
		}
	}
	return append(all, metric{
		"pmg_list_last_added_timestamp_seconds", gauge, labels,
		"When a number was last added to the list beside its file, in seconds since 1970. There is no value without such a time.",
		last(func(l *NumberList) *time.Time { return l.LastAdded }),
	}, metric{
		"pmg_list_last_stop_timestamp_seconds", gauge, labels,
		"When a word of stop last added a mobile to the list, in seconds since 1970. There is no value without such a time.",
		last(func(l *NumberList) *time.Time { return l.LastStop }),
	})
}
