package loadtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pmg/protocols"
)

// LoadOptions are the options of a load. Begin with DefaultLoadOptions.
type LoadOptions struct {
	To          string // host:port of the gateway
	Connections int    // all of them are bound before the first message is sent
	Window      int    // unanswered submits on each
	Messages    int64  // how many to send; 0: until Duration is over
	Duration    time.Duration
	Rate        float64       // messages a second over all connections; 0: as fast as the answers arrive
	First       int64         // number of the first message
	Size        int           // octets of text
	Receipts    bool          // ask for delivery receipts and wait for them
	Retry       time.Duration // pause before a throttled message is sent again; 0: it is not sent again

	SystemID, Password string
	Bind               protocols.BindType
	Source             string
	Destination        string        // followed by the last seven digits of the message's number
	Timeout            time.Duration // the load gives up when it waits and receives nothing for this long

	Progress func(Counts) // called about ten times a second, when not nil
	Bound    func()       // called when all connections are bound, before the first message, when not nil
	Answered func()       // called when everything is answered, before logging out, when not nil
}

// DefaultLoadOptions returns the options of one connection with a window of ten.
func DefaultLoadOptions() LoadOptions {
	return LoadOptions{
		Connections: 1, Window: 10, Size: 60,
		SystemID: "load", Password: "secret", Bind: protocols.Transceiver,
		Source: "46700000001", Destination: "4670",
		Timeout: 10 * time.Second,
	}
}

const (
	maxWindow  = 1 << 16
	maxSize    = 254 // of short_message (SMPP 3.4 §5.2.22)
	maxAddress = 20
)

func (o *LoadOptions) check() error {
	switch {
	case o.Connections < 1:
		return errors.New("at least one connection is needed")
	case o.Window < 1 || o.Window > maxWindow:
		return fmt.Errorf("the window must be 1 to %d", maxWindow)
	case o.Size < numberLength || o.Size > maxSize:
		return fmt.Errorf("the size must be %d to %d", numberLength, maxSize)
	case o.Messages < 0 || o.First < 0 || o.First+o.Messages > maxNumber:
		return fmt.Errorf("message numbers must be 0 to %d", int64(maxNumber))
	case o.Messages == 0 && o.Duration <= 0:
		return errors.New("a number of messages or a duration is needed")
	case !o.Bind.CanSubmit() && o.Duration <= 0:
		return errors.New("a receiver sends nothing and needs a duration")
	case o.Receipts && !o.Bind.CanReceive():
		return errors.New("a transmitter gets no receipts: bind as transceiver")
	case o.Rate < 0 || o.Retry < 0:
		return errors.New("rate and retry cannot be negative")
	case o.Timeout <= 0:
		return errors.New("a timeout is needed")
	case len(o.Source) > maxAddress || len(o.Destination)+destinationDigits > maxAddress:
		return fmt.Errorf("addresses have at most %d digits, of which %d digits of a destination are from the message's number", maxAddress, destinationDigits)
	}
	return nil
}

// Counts is the progress of a load.
type Counts struct {
	Seconds   float64
	Sent      int64 // submits, resent ones included
	Answered  int64
	Accepted  int64 // messages answered with status 0
	Throttled int64
	Refused   int64
	Receipts  int64
}

// LoadResult is the result of a load. The JSON names are stable.
type LoadResult struct {
	Connections       int              `json:"connections"`
	Window            int              `json:"window"`
	Messages          int64            `json:"messages"`            // handed to a connection
	Sent              int64            `json:"sent"`                // submits, resent ones included
	Answered          int64            `json:"answered"`            // submits answered, whatever the status
	Accepted          int64            `json:"accepted"`            // messages answered with status 0
	Throttled         int64            `json:"throttled"`           // answers ESME_RTHROTTLED and ESME_RMSGQFUL
	Refused           int64            `json:"refused"`             // answers with any other status
	Statuses          map[string]int64 `json:"statuses"`            // throttled and refused by status
	Resent            int64            `json:"resent"`              // submits of a message sent before
	Unanswered        int64            `json:"unanswered"`          // submits
	Unexpected        int64            `json:"unexpected"`          // answers without a request
	Receipts          int64            `json:"receipts"`            // messages with a receipt
	ReceiptsMissing   int64            `json:"receipts_missing"`    // accepted messages without a receipt, if receipts were asked for
	ReceiptsDoubled   int64            `json:"receipts_doubled"`    // receipts for a message that had one
	Unnumbered        int64            `json:"unnumbered"`          // deliver_sm that are not receipts of this load
	ConnectionsLost   int64            `json:"connections_lost"`    // before the end, their submits unanswered
	GaveUp            bool             `json:"gave_up"`             // nothing was received for too long
	Seconds           float64          `json:"seconds"`             // from the first submit to the last answer
	MessagesPerSecond float64          `json:"messages_per_second"` // accepted ones
	Latency           Latency          `json:"latency"`             // of answers, from the intended time of the submit

	accepted *numbers
}

// Problems describes what is missing, unanswered, doubled or refused. Throttled messages
// are not a problem. Nil is a clean run.
func (r *LoadResult) Problems() []string {
	var p problems
	p.count(r.Unanswered, "unanswered")
	p.count(r.Refused, "refused")
	p.count(r.Unexpected, "answered twice or unasked")
	p.count(r.ReceiptsMissing, "without receipt")
	p.count(r.ReceiptsDoubled, "with more than one receipt")
	p.count(r.ConnectionsLost, "connections lost")
	return p
}

// problems collects descriptions of problems.
type problems []string

func (p *problems) count(n int64, problem string) {
	if n != 0 {
		*p = append(*p, fmt.Sprintf("%d %s", n, problem))
	}
}

// Load binds, sends, waits for the answers and unbinds. It returns an error only if it
// cannot begin; later problems are in the result. The end of ctx ends the sending, and
// Load still waits for answers then.
func Load(ctx context.Context, o LoadOptions) (*LoadResult, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("cannot start load: %w", err)
	}
	r := &run{o: o, template: newTemplate(&o), began: time.Now(), wake: make(chan struct{}, 1)}
	r.supply.first, r.supply.limit = o.First, o.Messages
	if err := r.bind(ctx); err != nil {
		return nil, fmt.Errorf("cannot start load: %w", err)
	}
	if err := r.serve(ctx); err != nil {
		r.close()
		return nil, fmt.Errorf("cannot start load: %w", err)
	}
	r.progress()
	return r.result(), nil
}

// serve runs the clients, and the pacer if there is a rate.
func (r *run) serve(ctx context.Context) error {
	var pace *pacer
	slot := retrySlot
	if r.o.Bound != nil {
		r.o.Bound()
	}
	r.began = time.Now()
	if r.o.Rate > 0 {
		r.supply.plan = newPlan(0, r.o.Rate)
		slot = time.Duration(r.supply.plan.slot)
	}
	var serving, pacing sync.WaitGroup
	if r.o.Rate > 0 || r.o.Retry > 0 {
		var err error
		if pace, err = newPacer(slot); err != nil {
			return err
		}
		pacing.Go(func() { r.pace(pace) })
	}
	r.live.Store(int64(len(r.clients)))
	for _, c := range r.clients {
		serving.Go(c.serve)
	}
	r.wait(ctx)
	if pace != nil {
		pace.close()
		pacing.Wait()
	}
	if r.o.Answered != nil {
		r.o.Answered()
	}
	r.unbind(&serving)
	return nil
}

func (r *run) progress() {
	if r.o.Progress == nil {
		return
	}
	r.o.Progress(Counts{
		Seconds:   time.Since(r.began).Seconds(),
		Sent:      r.sent.Load(),
		Answered:  r.answered.Load(),
		Accepted:  r.accepted.unique.Load(),
		Throttled: r.throttled.Load(),
		Refused:   r.refused.Load(),
		Receipts:  r.receipts.unique.Load(),
	})
}

// result adds up the counts of the clients, which have all ended.
func (r *run) result() *LoadResult {
	l := &LoadResult{
		Connections: r.o.Connections, Window: r.o.Window,
		Messages: r.supply.taken.Load(), Sent: r.sent.Load(), Answered: r.answered.Load(),
		Accepted: r.accepted.unique.Load(), Throttled: r.throttled.Load(), Refused: r.refused.Load(),
		Statuses: map[string]int64{}, Resent: r.resent.Load(),
		Unanswered: r.sent.Load() - r.answered.Load(), Unexpected: r.unexpected.Load(),
		Receipts: r.receipts.unique.Load(), ReceiptsDoubled: r.receipts.doubled.Load(),
		Unnumbered: r.unnumbered.Load(), ConnectionsLost: r.lost.Load(), GaveUp: r.gaveUp,
		accepted: &r.accepted,
	}
	if r.o.Receipts {
		l.ReceiptsMissing = r.accepted.notIn(&r.receipts)
	}
	all, last := newHistogram(), int64(0)
	for _, c := range r.clients {
		all.Merge(c.latency)
		last = max(last, c.last)
		for status, n := range c.refused {
			l.Statuses[statusName(status)] += n
		}
	}
	l.Latency = latencyOf(all)
	if last > 0 {
		l.Seconds = time.Duration(last).Seconds()
		l.MessagesPerSecond = float64(l.Accepted) / l.Seconds
	}
	return l
}
