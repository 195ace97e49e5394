package bench

import (
	"context"

	"pmg/loadtest/child"
)

// Operated is one long run of a gateway as operators run it: messages on disk before they are answered, with a receipt for
// each, a pdu log, events and statistics. What is behind a message must not make it dearer.
type Operated struct {
	Setting
	Messages int64    `json:"messages"` // of each part
	Parts    []Sample `json:"parts"`    // one after the other
}

const (
	operatedParts    = 4
	operatedLength   = 12 // of all parts together, in runs of Options.Messages
	operatedSessions = 4  // with the SMSC, unless the options say how many
)

// Operate makes the long run, once.
func Operate(ctx context.Context, o Options) (*Operated, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.SMSCSessions == 0 {
		o.SMSCSessions = operatedSessions
	}
	s := Setting{Pipeline, LogsOperated, 64, 10, Pebble, WithReceipts}
	r, stop, err := o.start(s, func(sink string) (*child.Child, error) {
		return startGateway(
			ctx, o.Gateway, gatewayConfig{Setting: s, Protocol: o.Protocol, Sink: sink, Sessions: o.smscSessions(s)},
		)
	})
	if err != nil {
		return nil, err
	}
	defer stop()
	all := &Operated{Setting: s, Messages: operatedLength * o.Messages / operatedParts}
	ahead := o.Messages / warmUp
	if err := r.warm(ctx, o.Protocol, s, ahead); err != nil {
		return nil, err
	}
	for part := range int64(operatedParts) {
		o.progress(int(part), operatedParts, s.String())
		if err := r.measure(ctx, o.Protocol, s, ahead+part*all.Messages, all.Messages); err != nil {
			return nil, err
		}
		all.Parts = append(all.Parts, r.sample)
	}
	o.progress(operatedParts, operatedParts, "done")
	return all, nil
}

// operatedChecks compares the last part with the first.
func (r *Results) operatedChecks() []Check {
	if r.Operated == nil {
		return nil
	}
	first, last := r.Operated.Parts[0], r.Operated.Parts[len(r.Operated.Parts)-1]
	return []Check{
		{"CPU per message as operators run it, last quarter / first", per(last[CPU], first[CPU]), 1.1, false},
		{"octets written per message as operators run it, last quarter", last[Written], 2500, false},
	}
}
