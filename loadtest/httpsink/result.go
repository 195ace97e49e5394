package httpsink

import (
	"fmt"
	"time"

	"pmg/loadtest"
)

// Result is the result of a sink. The JSON names are stable, and those of loadtest.SinkResult where they mean the same.
type Result struct {
	Submits           int64            `json:"submits"`    // received
	Accepted          int64            `json:"accepted"`   // answered with 202
	Unique            int64            `json:"unique"`     // different messages among them
	Doubled           int64            `json:"doubled"`    // accepted, but not for the first time
	Missing           int64            `json:"missing"`    // up to the expected number; if there is none, gaps between the numbers
	Unnumbered        int64            `json:"unnumbered"` // accepted, but without a message number
	Repeated          int64            `json:"repeated"`   // answered as the first with their client_reference, and not accepted again
	Throttled         int64            `json:"throttled"`  // answered 429, or 503
	Refused           int64            `json:"refused"`    // answered with another status
	Dropped           int64            `json:"dropped"`    // connections closed instead of an answer
	Late              int64            `json:"late"`       // accepted and answered late
	Malformed         int64            `json:"malformed"`  // requests that could not be read
	Receipts          int64            `json:"receipts"`   // messages that have asked for one
	ReceiptsAnswered  int64            `json:"receipts_answered"`
	ReceiptsRefused   int64            `json:"receipts_refused"` // answered with a status that does not allow to send them again
	Redelivered       int64            `json:"redelivered"`      // receipts that had to be sent again
	Calls             int64            `json:"calls"`            // of webhooks
	CallsRefused      int64            `json:"calls_refused"`    // of those answered 429 or 500, or without an answer
	Events            int64            `json:"events"`           // different ones among them
	EventsAgain       int64            `json:"events_again"`     // came again
	EventTypes        map[string]int64 `json:"event_types"`      // different ones by type
	Forged            int64            `json:"forged"`           // calls without the signature of the key
	Seconds           float64          `json:"seconds"`          // from the first submit to the last
	MessagesPerSecond float64          `json:"messages_per_second"`

	seen *loadtest.Numbers
}

// Numbers implements loadtest.Received.
func (r *Result) Numbers() *loadtest.Numbers { return r.seen }

// Problems describes messages that are missing, doubled or malformed. Nil is a clean run.
func (r *Result) Problems() (all []string) {
	for _, p := range []struct {
		n    int64
		what string
	}{
		{r.Missing, "missing"},
		{r.Doubled, "doubled"},
		{r.Malformed, "malformed"},
		{r.ReceiptsRefused, "receipts refused"},
		{r.Receipts - r.ReceiptsAnswered - r.ReceiptsRefused, "receipts not delivered"},
		{r.Forged, "calls without the signature"},
	} {
		if p.n != 0 {
			all = append(all, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return all
}

// Result returns the counts up to now.
func (s *Sink) Result() *Result {
	c := &s.counts
	r := &Result{
		Submits: c.submits.Load(), Accepted: c.accepted.Load(), Repeated: c.repeated.Load(),
		Unique: s.seen.Unique(), Doubled: s.seen.Doubled(), Missing: s.seen.Gaps(), Unnumbered: c.unnumbered.Load(),
		Throttled: c.throttled.Load(), Refused: c.refused.Load(),
		Dropped: c.dropped.Load(), Late: c.late.Load(), Malformed: c.malformed.Load(),
		Receipts: c.receipts.Load(), ReceiptsAnswered: c.answered.Load(), ReceiptsRefused: c.receiptsRefused.Load(),
		Redelivered: c.again.Load(),
		Calls:       c.calls.Load(), CallsRefused: c.eventsRefused.Load(), Events: c.events.Load(),
		EventsAgain: c.eventsAgain.Load(),
		EventTypes:  s.types.all(), Forged: c.forged.Load(),
		seen: &s.seen,
	}
	if s.o.Messages > 0 {
		r.Missing = max(0, s.o.Messages-r.Unique)
	}
	if r.Seconds = time.Duration(c.last.Load() - c.first.Load()).Seconds(); r.Seconds > 0 {
		r.MessagesPerSecond = float64(r.Accepted) / r.Seconds
	}
	return r
}
