package connector

import (
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/sms"
)

// Counters are the counters of a connector, each described here alone: its tags say how it is
// shown (see admin/rows.go). In Stats they are of atomic.Int64 and ByLabel, in a status of int64
// and Labels.
type Counters[N, L any] struct {
	Opened     N `json:"sessions_opened" metric:"sessions_opened_total" help:"Sessions begun."`
	Failing    N `json:"failing" metric:"failing" help:"Connections and logins that failed in a row."`
	InFlight   N `json:"in_flight" metric:"window_used" help:"Messages sent and not yet answered, over all sessions."`
	Queued     N `json:"queued" metric:"queue_messages" help:"Messages that wait to be sent."`
	Accepted   N `json:"accepted" metric:"messages_accepted_total" column:"accepted" help:"Messages from peers that were accepted."`
	ReceiptsIn N `json:"accepted_receipts" metric:"messages_accepted_receipts_total" help:"Receipts among the messages of an SMSC that were accepted. Those that end at the gateway are not among them."`
	Refused    N `json:"refused" metric:"messages_refused_total" column:"refused" help:"Messages from peers that were refused."`
	Sent       N `json:"sent" metric:"messages_sent_total" column:"sent" help:"Messages that a peer accepted."`
	Failed     N `json:"failed" metric:"messages_failed_total" column:"failed" help:"Messages that were given up."`
	Cancelled  N `json:"cancelled" metric:"messages_cancelled_total" column:"cancelled" help:"Messages that were deleted before a peer had them, by their client or an operator."`
	Expired    N `json:"expired" metric:"messages_expired_total" column:"expired" help:"Messages whose validity ran out while they waited."`
	Retried    N `json:"retried" metric:"messages_retried_total" column:"retried" help:"Times a message was put back into the queue."`
	Late       N `json:"answered_late" metric:"messages_answered_late_total" column:"late" help:"Messages whose answer came after the response timeout."`
	Moved      N `json:"moved" metric:"messages_moved_total" column:"moved" help:"Messages that moved to another target of their route, because this connector was down."`
	FailedOver N `json:"failed_over" metric:"messages_failed_over_total" help:"Messages that were refused for a while, or not answered, and went to another target of their route."`
	Unmatched  N `json:"unmatched" metric:"answers_unmatched_total" help:"Answers without a request."`
	Partly     N `json:"partly" metric:"pdus_partly_total" help:"PDUs of peers that were taken though a part of them cannot be read, such as octets behind a text; the pdu log has them as malformed."`
	Headers    N `json:"proxy_headers_refused" metric:"proxy_headers_refused_total" help:"PROXY headers that could not be read, or came from addresses that are not in proxies."`

	Receipts   L `json:"receipts,omitempty" metric:"receipts_total" label:"state" help:"Receipts of an SMSC that were taken, by what they say of the message: delivered, undeliverable, expired and so on. Each counts once, whether or not its message is known."`
	FieldsLost L `json:"fields_lost,omitempty" metric:"fields_lost_total" label:"field" help:"Times a message was sent without a field that the connector's protocol lacks; docs/conversion.md lists the fields."`
}

// expect has values of labels shown before they are counted, so that an alert sees the first time.
func expect(direction string, c *Counters[atomic.Int64, ByLabel]) {
	if direction == config.Out {
		for _, state := range append(sms.States(), sms.NoState) {
			c.Receipts.Expect(state)
		}
	}
}

// ByLabel is a counter for each value of a label. The values come from a closed set.
type ByLabel struct {
	counts sync.Map // fmt.Stringer → *atomic.Int64
}

// Expect has values shown of which nothing has been counted yet.
func (b *ByLabel) Expect(value fmt.Stringer) { b.counts.LoadOrStore(value, new(atomic.Int64)) }

// Add counts a value, and reports whether it is the first time.
func (b *ByLabel) Add(value fmt.Stringer) (first bool) {
	n, ok := b.counts.Load(value)
	if !ok {
		n, _ = b.counts.LoadOrStore(value, new(atomic.Int64))
	}
	return n.(*atomic.Int64).Add(1) == 1
}

// Counts returns the counts by the names of the values.
func (b *ByLabel) Counts() Labels {
	counts := Labels{}
	for value, n := range b.counts.Range {
		counts[value.(fmt.Stringer).String()] += n.(*atomic.Int64).Load()
	}
	return counts
}

// Labels are the counts of a ByLabel.
type Labels map[string]int64
