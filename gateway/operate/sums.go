package operate

import (
	"cmp"
	"slices"
	"time"

	"pmg/connector"
	"pmg/store"
)

// A QueueSum is the number of messages of one origin that wait for one peer.
type QueueSum struct {
	Connector string     `json:"connector,omitempty"` // connector that the messages wait for
	Receiver  string     `json:"receiver,omitempty"`  // account whose clients the messages wait for
	State     string     `json:"state"`
	Account   string     `json:"account,omitempty"` // the account that submitted the messages; empty: an SMSC
	From      string     `json:"from,omitempty"`    // the connector on which the messages arrived, if they have no account
	Messages  int64      `json:"messages"`
	Oldest    *time.Time `json:"oldest,omitempty"` // due time of the first message that waits for the peer
	Taken     int64      `json:"taken"`            // messages that the peer has accepted since the gateway's start
}

// QueueSums returns the sums of waiting messages in a running gateway, by peer and account. It reads no messages. now is the
// time by the engine's clock.
func (d *Operations) QueueSums(now int64) (sums []QueueSum) {
	wall := time.Unix(0, d.node.Clock.Wall(now)).UTC()
	for _, l := range d.table.Lanes() {
		sum := QueueSum{State: StateQueued, Connector: l.Home().Name, Taken: l.Home().Stats.Sent.Load()}
		if l.ToClient() {
			sum.Connector, sum.Receiver, sum.Taken = "", l.Account, l.Delivered.Load()
		}
		if oldest := l.Queues.Oldest(); oldest != 0 {
			at := wall.Add(time.Duration(oldest - now))
			sum.Oldest = &at
		}
		l.Queues.Shares(func(s *connector.Share) {
			if sum.Messages = s.Queued(); sum.Messages > 0 {
				sum.Account, sum.From = s.Origin.Account, ""
				if sum.Account == "" {
					sum.From = s.Origin.Connector
				}
				sums = append(sums, sum)
			}
		})
	}
	for why, state := range map[store.Aside]string{
		store.Parked: StateParked, store.Quarantined: StateQuarantined, store.Orphan: StateOrphan,
		store.Asked: StateAsked,
	} {
		if n := d.keep.Aside(why); n > 0 {
			sums = append(sums, QueueSum{State: state, Messages: n})
		}
	}
	slices.SortFunc(sums, func(a, b QueueSum) int { // the sums of one peer follow each other, the largest first
		return cmp.Or(cmp.Compare(rankOf(a.State), rankOf(b.State)), cmp.Compare(a.Connector, b.Connector),
			cmp.Compare(a.Receiver, b.Receiver), cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Account, b.Account))
	})
	return sums
}

// rankOf returns the rank of a state in the order of display. Queued messages come first.
func rankOf(state string) int {
	return slices.Index([]string{StateQueued, StateParked, StateQuarantined, StateOrphan, StateAsked}, state)
}
