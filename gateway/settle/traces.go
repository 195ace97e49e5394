package settle

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
	"pmg/telemetry"
)

// Traces makes traces of some of the messages that have ended, if telemetry.otlp is set.
type Traces struct {
	Exporter  *telemetry.Exporter // nil: it is not set
	sampler   telemetry.Sampler
	addresses bool
	key       [32]byte // that numbers are hashed with: without one, all numbers could be tried
}

// openTraces begins to send traces.
func (d *Desk) openTraces() {
	cfg := &d.Config().Telemetry
	if cfg.OTLP == "" {
		return
	}
	d.Traces.sampler, d.Traces.addresses = telemetry.OneIn(cfg.OneIn), cfg.Addresses
	rand.Read(d.Traces.key[:]) // never fails
	d.Traces.Exporter = telemetry.Start(telemetry.Options{
		URL: cfg.OTLP, Authorization: cfg.Authorization, Service: cfg.Service,
		Failed: func(err error) {
			if d.News.Is("traces") {
				d.Log.Warn().Err(err).Msg("traces are dropped: the collector of telemetry.otlp does not take them")
			}
		},
	})
}

// closeTraces sends the traces that wait.
func (d *Desk) closeTraces() {
	if d.Traces.Exporter != nil {
		d.Traces.Exporter.Close()
	}
}

// about returns the id of the message whose trace a message belongs to: a receipt to that of its message, and a
// part of a long message to that by whose id the client knows it.
func about(m *sms.Message) uint64 {
	if m.Kind == sms.Receipt {
		if r, ok := m.Report(); ok && r.Known != 0 {
			return r.Known
		}
	}
	return m.KnownID()
}

func (d *Desk) hasTrace(m *sms.Message, _ *ending) bool {
	return d.Traces.Exporter != nil && d.Traces.sampler.Takes(about(m))
}

func (d *Desk) endTrace(_ *store.Batch, m *sms.Message, e *ending) {
	d.Traces.Exporter.Add(d.Traces.spans(m, &e.Ending, d.Clock.Ahead(), d.Clock.WallNow()))
}

// spans returns the trace of a message that has ended: how long it was here, how long it waited, and how long its
// last attempt took.
func (t *Traces) spans(m *sms.Message, e *keep.Ending, ahead, now int64) []telemetry.Span {
	whole := about(m)
	trace, root := telemetry.TraceOf(whole), telemetry.SpanOf(m.ID, 0)
	ended := now
	if e.Answer.At != 0 {
		ended = e.Answer.At + ahead
	}
	all := []telemetry.Span{{
		Trace: trace, ID: root, Name: spanName(m.Kind), Kind: telemetry.Server, Begin: m.Arrived + ahead, End: ended, Attributes: t.attributes(m, e),
	}}
	if whole != m.ID {
		all[0].Parent = telemetry.SpanOf(whole, 0)
	}
	if e.State != events.Sent && e.State != events.Joined && e.State != events.Cut {
		all[0].Failed, all[0].Error = true, e.State.String()+": "+e.Answer.Code.String()
	}
	waited := ended
	if e.Sent != 0 {
		waited = e.Sent + ahead
		all = append(all, telemetry.Span{
			Trace: trace, ID: telemetry.SpanOf(m.ID, 2), Parent: root, Name: "send", Kind: telemetry.Client, Begin: waited, End: ended, Failed: all[0].Failed, Error: all[0].Error,
		})
	}
	return append(all, telemetry.Span{Trace: trace, ID: telemetry.SpanOf(m.ID, 1), Parent: root, Name: "wait", Kind: telemetry.Internal, Begin: m.Arrived + ahead, End: waited})
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
	if e.Lane.Connector != "" {
		all = append(all, telemetry.Text("messaging.destination.name", e.Lane.Connector))
	} else if e.Lane.Account != "" {
		all = append(all, telemetry.Text("messaging.destination.name", e.Lane.Account))
	}
	if e.Peer != nil && e.Answer.Status != 0 {
		all = append(all, telemetry.Text("pmg.status", e.Peer.StatusName(e.Answer.Status)))
	}
	return all
}

// number returns what a trace shows of a number, which is personal data.
func (t *Traces) number(addr []byte) string {
	if t.addresses || len(addr) == 0 {
		return string(addr)
	}
	h := hmac.New(sha256.New, t.key[:])
	h.Write(addr)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
