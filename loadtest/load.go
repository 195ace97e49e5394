package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"pmg/protocols"
	"pmg/protocols/smpp"
)

// LoadOptions are the options of a load. Begin with DefaultLoadOptions.
type LoadOptions struct {
	To       string // host:port of the gateway
	Protocol string // smpp if empty
	Content
	Connections int   // all of them are bound before the first message is sent
	Window      int   // unanswered submits on each
	Messages    int64 // how many to send; 0: until Duration is over
	Duration    time.Duration
	Rate        float64       // messages a second over all connections; 0: as fast as the answers arrive
	First       int64         // number of the first message
	Receipts    bool          // ask for delivery receipts and wait for them
	Retry       time.Duration // pause before a throttled message is sent again; 0: it is not sent again

	// pause before a lost connection is opened again, and its unanswered submits are sent again; 0: it is not
	Reconnect time.Duration

	SystemID, Password string
	Accounts           []Account // accounts that connections log in with in turn, instead of SystemID
	Bind               protocols.BindType
	Separate           bool // each connection is two, a transmitter and a receiver; Bind does not count
	Source             string
	Destination        string        // followed by the last seven digits of the message's number
	Timeout            time.Duration // the load gives up when it waits and receives nothing for this long

	MO   int64    // messages from the network that are awaited, whose numbers begin at 0
	MOTo []string // destination of those of each account; empty: each account takes any

	Progress func(Counts) // called about ten times a second, when not nil
	Bound    func()       // called when all connections are bound, before the first message, when not nil
	Answered func()       // called when everything is answered, before logging out, when not nil
}

// DefaultLoadOptions returns the options of one connection with a window of ten.
func DefaultLoadOptions() LoadOptions {
	return LoadOptions{
		Connections: 1, Window: 10, Content: Content{Size: 60},
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
	submits := o.Separate || o.Bind.CanSubmit()
	receives := o.Separate || o.Bind.CanReceive()
	switch {
	case o.Connections < 1:
		return errors.New("at least one connection is needed")
	case o.Connections < len(o.Accounts):
		return fmt.Errorf("%d accounts need as many connections", len(o.Accounts))
	case o.Messages < 0 || o.MO < 0 || o.First < 0 || o.First+o.Messages > maxNumber:
		return fmt.Errorf("message numbers must be 0 to %d", int64(maxNumber))
	case o.Messages == 0 && o.Duration <= 0 && o.MO == 0:
		return errors.New("a number of messages or a duration is needed")
	case !submits && o.Duration <= 0 && o.MO == 0:
		return errors.New("a receiver sends nothing and needs a duration, or a number of messages to receive")
	case (o.Receipts || o.MO > 0) && !receives:
		return errors.New("a transmitter gets no receipts and no messages: bind as transceiver")
	case o.Receipts && !submits:
		return errors.New("a receiver asks for no receipts: bind as transceiver")
	case len(o.MOTo) > 0 && len(o.MOTo) != max(1, len(o.Accounts)):
		return fmt.Errorf(
			"%d accounts need as many destinations of messages from the network, not %d", max(1, len(o.Accounts)),
			len(o.MOTo),
		)
	case o.Rate < 0 || o.Retry < 0 || o.Reconnect < 0:
		return errors.New("rate, retry and reconnect cannot be negative")
	case o.Timeout <= 0:
		return errors.New("a timeout is needed")
	case len(o.Source) > maxAddress || len(o.Destination)+destinationDigits > maxAddress:
		return fmt.Errorf(
			"addresses have at most %d digits, of which %d digits of a destination are from the message's number",
			maxAddress, destinationDigits,
		)
	}
	w, err := newWire(o.Protocol)
	if err != nil {
		return err
	}
	return errors.Join(checkWindow(o.Window, w), o.Content.check())
}

// checkWindow returns an error if as many requests cannot be unanswered. One sequence number
// is left for a logout.
func checkWindow(window int, w wire) error {
	if most := min(maxWindow, int(w.maxSequence())-1); window < 1 || window > most {
		return fmt.Errorf("the window must be 1 to %d, not %d", most, window)
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
	MO        int64
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
	Receipts          int64            `json:"receipts"`            // messages with a receipt, which has the message's id
	ReceiptsMissing   int64            `json:"receipts_missing"`    // accepted messages without a receipt, if receipts were asked for
	ReceiptsDoubled   int64            `json:"receipts_doubled"`    // receipts for a message that had one
	ReceiptsMisrouted int64            `json:"receipts_misrouted"`  // receipts that another account has received
	ReceiptsUnknown   int64            `json:"receipts_unknown"`    // receipts with an id that no message of the load has
	ReceiptsWrong     int64            `json:"receipts_wrong"`      // receipts with the id of one message and the text of another
	ReceiptsEarly     int64            `json:"receipts_early"`      // receipts that came before the answer to the submit
	ReceiptStates     map[string]int64 `json:"receipt_states"`      // receipts by state
	MO                int64            `json:"mo"`                  // different messages from the network
	MOMissing         int64            `json:"mo_missing"`          // of the awaited ones
	MODoubled         int64            `json:"mo_doubled"`          // received before
	MOMisrouted       int64            `json:"mo_misrouted"`        // received by an account that they are not for
	Unnumbered        int64            `json:"unnumbered"`          // receipts that were not asked for or are not the last one, and messages without a number
	Malformed         int64            `json:"malformed"`           // messages and receipts that could not be read
	Reconnects        int64            `json:"reconnects"`          // connections that were opened again
	SentAgain         int64            `json:"sent_again"`          // submits without an answer on those, which were sent again
	ConnectionsLost   int64            `json:"connections_lost"`    // before the end, their submits unanswered
	GaveUp            bool             `json:"gave_up"`             // nothing was received for too long
	Seconds           float64          `json:"seconds"`             // from the first submit to the last answer
	MessagesPerSecond float64          `json:"messages_per_second"` // accepted ones
	ReceiptsPerSecond float64          `json:"receipts_per_second"` // from the first submit to the last receipt
	Latency           Latency          `json:"latency"`             // of answers, from the intended time of the submit
	ReceiptLatency    Latency          `json:"receipt_latency"`     // of receipts, from the same time

	accepted *Numbers
}

// Of says which messages were accepted, for Compare.
func (r *LoadResult) Of(accepted *Numbers) *LoadResult {
	r.accepted = accepted
	return r
}

// Problems describes what is missing, unanswered, doubled or refused. Throttled messages
// are not a problem. Nil is a clean run.
func (r *LoadResult) Problems() []string {
	var p problems
	p.count(r.Unanswered, "unanswered")
	p.count(r.Refused, "refused")
	p.count(r.Unexpected, "answered twice or unasked")
	p.count(r.ReceiptsMissing, "without receipt")
	if r.Reconnects == 0 { // otherwise the answer to a receipt may have been lost
		p.count(r.ReceiptsDoubled, "with more than one receipt")
		p.count(r.MODoubled, "mobile-originated messages doubled")
	}
	p.count(r.ReceiptsMisrouted, "receipts received by another account")
	p.count(max(0, r.ReceiptsUnknown-r.SentAgain), "receipts with an unknown id") // the answers of the others were lost
	p.count(r.ReceiptsWrong, "receipts with the text of another message")
	p.count(r.MOMissing, "mobile-originated messages missing")
	p.count(r.MOMisrouted, "mobile-originated messages received by another account")
	p.count(r.Malformed, "malformed")
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
	r := newRun(o)
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
		MO:        r.mo.unique.Load(),
	})
}

// result adds up the counts of the clients when all have ended.
func (r *run) result() *LoadResult {
	l := &LoadResult{
		Connections: r.o.Connections, Window: r.o.Window,
		Messages: r.supply.taken.Load(), Sent: r.sent.Load(), Answered: r.answered.Load(),
		Accepted: r.accepted.unique.Load(), Throttled: r.throttled.Load(), Refused: r.refused.Load(),
		Statuses: map[string]int64{}, Resent: r.resent.Load(),
		Unanswered: r.sent.Load() - r.answered.Load() - r.sentAgain.Load(), Unexpected: r.unexpected.Load(),
		Unnumbered: r.unnumbered.Load(), Malformed: r.malformed.Load(),
		ConnectionsLost: r.connectionsLost(), GaveUp: r.gaveUp,
		Reconnects: r.reconnects.Load(), SentAgain: r.sentAgain.Load(),
		MO: r.mo.unique.Load(), MODoubled: r.mo.doubled.Load(), MOMisrouted: r.moMisrouted.Load(),
		MOMissing: max(0, r.o.MO-r.mo.unique.Load()),
		accepted:  &r.accepted,
	}
	r.receiptResult(l)
	all, taken, last, lastReceipt := newHistogram(), newHistogram(), int64(0), int64(0)
	for _, c := range r.clients {
		all.Merge(c.latency)
		if c.taken != nil {
			taken.Merge(c.taken)
		}
		last, lastReceipt = max(last, c.last), max(lastReceipt, c.lastReceipt)
		for status, n := range c.refused {
			l.Statuses[c.wire.statusName(status)] += n
		}
	}
	l.Latency, l.ReceiptLatency = latencyOf(all), latencyOf(taken)
	if last > 0 {
		l.Seconds = time.Duration(last).Seconds()
		l.MessagesPerSecond = float64(l.Accepted) / l.Seconds
	}
	if lastReceipt > 0 {
		l.ReceiptsPerSecond = float64(l.Receipts) / time.Duration(lastReceipt).Seconds()
	}
	return l
}

// receiptResult fills in what has become of the receipts, if they were asked for.
func (r *run) receiptResult(l *LoadResult) {
	l.ReceiptStates = map[string]int64{}
	if !r.o.Receipts {
		return
	}
	l.Receipts, l.ReceiptsMissing = r.receipts.unique.Load(), r.accepted.notIn(&r.receipts)
	l.ReceiptsDoubled = r.receiptsDoubled.Load() + r.receipts.doubled.Load() // the latter if a message has two ids
	l.ReceiptsWrong, l.ReceiptsEarly = r.receiptsWrong.Load(), r.receiptsBefore.Load()
	for _, a := range r.receiptsOf {
		misrouted, unknown := a.strays(r.receiptsOf)
		l.ReceiptsMisrouted += misrouted
		l.ReceiptsUnknown += unknown
	}
	for i, word := range stateWords() {
		if n := r.receiptStates[i].Load(); n > 0 {
			l.ReceiptStates[cmp.Or(word, "none")] = n
		}
	}
}

const (
	floodChunk    = 32                     // submits in one write
	floodBuffer   = 4 << 10                // receive buffer of the socket, which is never read
	floodInterval = 3 * time.Millisecond   // between chunks, because unread answers are tested and not the rate
	floodPause    = 100 * time.Millisecond // before a flood that was disconnected connects again
)

// Flood is a hostile client: it submits some 10,000 messages a second, or as fast as the
// gateway reads, ignores the window and never reads an answer. When it is disconnected,
// it connects again. It goes on until ctx ends, and returns how many submits it has
// written. It uses only the credentials, the addresses, First and Size of the options.
func Flood(ctx context.Context, o LoadOptions) (written int64) {
	w := &smppWire{}
	t := w.newTemplate(&o)
	for ctx.Err() == nil {
		written += flood(ctx, &o, t, o.First+written)
		select {
		case <-ctx.Done():
		case <-time.After(floodPause):
		}
	}
	return written
}

// flood floods on one connection until it is disconnected or ctx ends.
func flood(ctx context.Context, o *LoadOptions, t template, first int64) (written int64) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", o.To)
	if err != nil {
		return 0
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_ = conn.(*net.TCPConn).SetReadBuffer(floodBuffer) // an error is ignored, because a larger buffer only takes longer to fill
	out := (&smppWire{}).appendLogin(nil, 1, &loginRequest{Account{o.SystemID, o.Password}, o.Bind})
	for {
		if _, err := conn.Write(out); err != nil {
			return written
		}
		time.Sleep(floodInterval)
		out = out[:0]
		for range floodChunk {
			out = t.append(out, uint32(written)%(smpp.MaxSequence-1)+2, first+written)
			written++
		}
	}
}
