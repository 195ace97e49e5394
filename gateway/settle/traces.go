package settle

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"sync"
	"time"

	"pmg/connector"
	"pmg/events"
	"pmg/events/telemetry"
	"pmg/gateway/keep"
	"pmg/internal/ratelimit"
	"pmg/sms"
	"pmg/store"
)

// Traces sends traces of some of the ended messages, if telemetry.otlp is set.
type Traces struct {
	Exporter  *telemetry.Exporter // set before the engine starts; nil: there is none
	sampler   telemetry.Sampler   // set before the engine starts
	addresses bool                // set before the engine starts
	key       [32]byte            // key for hashing numbers: without a key, hashes of all numbers could be tried
	asked     asked
}

// asked limits how many messages are traced at the request of their clients, because clients could
// request traces of all messages.
type asked struct {
	rate int // maximum per second, set before the engine starts; 0: none

	mu    sync.Mutex
	limit ratelimit.Limiter
}

func (a *asked) setRate(rate int) { a.rate, a.limit = rate, ratelimit.New(rate, rate) }

// takes reports whether another message may be traced.
func (a *asked) takes(now int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rate == 0 || a.limit.Wait(now) > 0 {
		return false
	}
	a.limit.Reserve(now)
	return true
}

// Parent returns the Parent for the context of a message whose request came with these headers traceparent. It is empty
// if the message is not traced for them.
func (d *Settler) Parent(headers []string) string {
	if len(headers) != 1 || d.Traces.Exporter == nil {
		return ""
	}
	p, sampled := telemetry.ParseParent(headers[0])
	if !sampled || !d.Traces.asked.takes(d.node.Clock.Now()) {
		return ""
	}
	return p.Octets()
}

// openTraces begins to send traces.
func (d *Settler) openTraces() {
	cfg := &d.node.Config().Telemetry
	if cfg.OTLP == "" {
		return
	}
	d.Traces.sampler, d.Traces.addresses = telemetry.OneIn(cfg.OneIn), cfg.Addresses
	d.Traces.asked.setRate(cfg.ClientRate)
	rand.Read(d.Traces.key[:]) // never fails
	d.Traces.Exporter = telemetry.Start(telemetry.Options{
		URL: cfg.OTLP, Authorization: cfg.Authorization, Service: cfg.Service,
		Failed: func(err error) {
			if d.node.Repeats.First("traces") {
				d.node.Log.Warn().Err(err).Msg("traces are dropped: the collector of telemetry.otlp does not take them")
			}
		},
	})
}

// closeTraces sends the traces that wait.
func (d *Settler) closeTraces() {
	if d.Traces.Exporter != nil {
		d.Traces.Exporter.Close()
	}
}

// about returns the id of the message whose trace a message belongs to, and that message's context. A receipt belongs
// to the trace of its message. A part of a long message belongs to that of the message whose id the client knows.
func about(m *sms.Message) (id uint64, context []byte) {
	if m.Kind == sms.Receipt {
		if r, ok := m.Report(); ok && r.Known != 0 {
			return r.Known, r.Context
		}
	}
	return m.KnownID(), m.Context()
}

// A place identifies the spans of a message.
type place struct {
	trace  [16]byte
	root   [8]byte // id of the message's span
	parent [8]byte // id of the parent of root; zero: no parent
}

// place returns the place of a message. ok is false if the message is not traced.
func (t *Traces) place(m *sms.Message) (p place, ok bool) {
	if t.Exporter == nil {
		return p, false
	}
	whole, context := about(m)
	client, asked := telemetry.ParentOf(sms.ParentOf(context))
	switch {
	case asked:
		p.trace, p.parent = client.Trace, client.Span
	case t.sampler.Takes(whole):
		p.trace = telemetry.TraceOf(whole)
	default:
		return p, false
	}
	p.root = telemetry.SpanOf(m.ID, rootSpan)
	if whole != m.ID {
		p.parent = telemetry.SpanOf(whole, rootSpan)
	}
	return p, true
}

// The numbers of the spans of a message.
const (
	rootSpan  = iota
	waitSpan  // the wait until the message was last written
	lateSpan  // a late answer: the attempt's own span has ended without an answer
	firstSpan // spans of the attempts, in their order
	lastSpan  = math.MaxUint8
)

// attemptSpan returns the number of the span for the latest attempt of a message.
func attemptSpan(m *sms.Message) uint8 { return uint8(min(lastSpan, firstSpan-1+int(m.Sends))) }

func (d *Settler) hasTrace(m *sms.Message, _ *ending) bool {
	_, traced := d.Traces.place(m)
	return traced
}

// Tried implements connector.Settler: the attempt becomes a span. The last number is kept for the attempt that ends the
// message, so that the spans of a message are bounded.
func (d *Settler) Tried(l *connector.Lane, m *sms.Message, a sms.Answer, sent int64) {
	if sent == 0 {
		return
	}
	p, traced := d.Traces.place(m)
	n := attemptSpan(m)
	if !traced || n == lastSpan {
		return
	}
	d.Traces.Exporter.Add(
		[]telemetry.Span{
			p.attempt(
				m, n, keep.Ending{Lane: keep.LaneName(l), Peer: l.Home().Driver, Answer: a, Sent: sent},
				d.node.Clock.Ahead(),
			),
		},
	)
}

// Traceparent returns the header traceparent for a call that delivers a message, or "" if the
// message is not traced.
func (d *Settler) Traceparent(m *sms.Message) string {
	p, traced := d.Traces.place(m)
	if !traced {
		return ""
	}
	return telemetry.Parent{Trace: p.trace, Span: telemetry.SpanOf(m.ID, attemptSpan(m))}.Header()
}

// Told makes a span of a call of a webhook, which took so long until now. status is that of the answer, 0 if there was
// none, and failed why the webhook has not taken it.
func (d *Settler) Told(m *sms.Message, took time.Duration, status int, failed string) {
	p, traced := d.Traces.place(m)
	n := attemptSpan(m)
	if !traced || n == lastSpan || took == 0 {
		return
	}
	now := d.node.Clock.WallNow()
	s := telemetry.Span{
		Trace: p.trace, ID: telemetry.SpanOf(m.ID, n), Parent: p.root, Name: "webhook", Kind: telemetry.Client,
		Begin: now - int64(took), End: now,
		Failed: failed != "", Error: failed, Attributes: []telemetry.Attribute{telemetry.Number("pmg.attempt", int64(m.Sends))},
	}
	if status != 0 {
		s.Attributes = append(s.Attributes, telemetry.Number("http.response.status_code", int64(status)))
	}
	d.Traces.Exporter.Add([]telemetry.Span{s})
}

func (p *place) attempt(m *sms.Message, n uint8, e keep.Ending, ahead int64) telemetry.Span {
	s := telemetry.Span{
		Trace: p.trace, ID: telemetry.SpanOf(m.ID, n), Parent: p.root, Name: "send", Kind: telemetry.Client,
		Begin: e.Sent + ahead, End: e.Answer.At + ahead,
		Attributes: append(answered(&e), telemetry.Number("pmg.attempt", int64(m.Sends))),
	}
	if code := e.Answer.Code; code != sms.OK {
		s.Failed, s.Error = true, code.String()
	}
	return s
}

func (d *Settler) endTrace(_ *store.Batch, m *sms.Message, e *ending) {
	if p, traced := d.Traces.place(m); traced {
		d.Traces.Exporter.Add(d.Traces.spans(p, m, &e.Ending, d.node.Clock.Ahead(), d.node.Clock.WallNow()))
	}
}

// spans returns the spans of an ended message: its time in the gateway, its wait, and its last
// attempt.
func (t *Traces) spans(p place, m *sms.Message, e *keep.Ending, ahead, now int64) []telemetry.Span {
	ended := now
	if e.Answer.At != 0 {
		ended = e.Answer.At + ahead
	}
	all := []telemetry.Span{{
		Trace: p.trace, ID: p.root, Parent: p.parent, Name: spanName(m.Kind), Kind: telemetry.Server,
		Begin: m.Arrived + ahead, End: ended, Attributes: t.attributes(m, e),
	}}
	if e.State != events.Sent && e.State != events.Joined && e.State != events.Cut {
		all[0].Failed, all[0].Error = true, e.State.String()+": "+e.Answer.Code.String()
	}
	waited := ended
	if e.Sent != 0 {
		waited = e.Sent + ahead
		n := attemptSpan(m)
		if m.Flags&sms.Settled != 0 {
			n = lateSpan
		}
		last := *e
		last.Answer.At = ended - ahead
		all = append(all, p.attempt(m, n, last, ahead))
	}
	return append(
		all,
		telemetry.Span{
			Trace: p.trace, ID: telemetry.SpanOf(m.ID, waitSpan), Parent: p.root, Name: "wait", Kind: telemetry.Internal,
			Begin: m.Arrived + ahead, End: waited,
		},
	)
}

// spanName returns the name of the span of a message.
func spanName(k sms.Kind) string {
	switch k {
	case sms.MO:
		return "mo"
	case sms.Receipt:
		return "receipt"
	}
	return "submit"
}

func (t *Traces) attributes(m *sms.Message, e *keep.Ending) []telemetry.Attribute {
	all := []telemetry.Attribute{
		telemetry.Text("messaging.message.id", string(sms.AppendID(nil, m.ID))),
		telemetry.Text("messaging.operation.type", "send"),
		telemetry.Text("pmg.state", e.State.String()),
		telemetry.Number("pmg.attempts", int64(e.Attempts)), telemetry.Number("pmg.sends", int64(m.Sends)),
		telemetry.Text("pmg.source", t.number(m.Source().Addr)), telemetry.Text("pmg.destination", t.number(m.Dest().Addr)),
	}
	if o := m.Origin; o != nil {
		all = append(all, telemetry.Text("pmg.account", o.Account), telemetry.Text("pmg.connector", o.Connector))
	}
	return append(all, answered(e)...)
}

// answered returns attributes with the connector or account of a message's lane, and the status of
// the answer.
func answered(e *keep.Ending) (all []telemetry.Attribute) {
	if e.Lane.Connector != "" {
		all = append(all, telemetry.Text("messaging.destination.name", e.Lane.Connector))
	} else if e.Lane.ToClient() {
		all = append(all, telemetry.Text("messaging.destination.name", e.Lane.Account))
	}
	if e.Peer != nil && e.Answer.Status != 0 {
		all = append(all, telemetry.Text("pmg.status", e.Peer.StatusName(e.Answer.Status)))
	}
	return all
}

// number returns a number as a trace shows it: a keyed hash, unless addresses are to be shown, because it is personal data.
func (t *Traces) number(addr []byte) string {
	if t.addresses || len(addr) == 0 {
		return string(addr)
	}
	h := hmac.New(sha256.New, t.key[:])
	h.Write(addr)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
