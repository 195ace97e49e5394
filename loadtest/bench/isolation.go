package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pmg/loadtest"
)

// The calm load, whose latency is measured, and the load for an SMSC that never answers.
const (
	calmConnections = 16
	calmRate        = 5000
	calmTime        = 3 * time.Second
	silentRate      = 500
	neighbourTime   = time.Second // from the start of the neighbour to the calm load
	silentPrefix    = "999"
	neighbourFirst  = 1 << 32 // number of the neighbour's first message
)

// An Isolation is the latency of a calm, paced load: when it is alone, beside a client
// that submits and never reads, and beside messages for an SMSC that never answers. Each
// slice has one value per round.
type Isolation struct {
	Architecture string             `json:"architecture"`
	Alone        []loadtest.Latency `json:"alone"`
	Unread       []loadtest.Latency `json:"client_does_not_read"`
	Silent       []loadtest.Latency `json:"smsc_does_not_answer"`
}

// A neighbour is a client that disturbs others until ctx ends. to is the gateway's
// address. A nil neighbour is none.
type neighbour func(ctx context.Context, to string)

// Isolate measures every architecture of the options, alone and beside each neighbour.
func Isolate(ctx context.Context, o Options) ([]Isolation, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	all := make([]Isolation, len(o.Architectures))
	const cases = 3
	total, done := cases*len(all)*o.Rounds, 0
	for range o.Rounds {
		for i, architecture := range o.Architectures {
			p := &all[i]
			p.Architecture = architecture
			for _, one := range [cases]struct {
				name   string
				into   *[]loadtest.Latency
				beside neighbour
			}{
				{"alone", &p.Alone, nil},
				{"client does not read", &p.Unread, doNotRead},
				{"SMSC does not answer", &p.Silent, submitToSilent},
			} {
				o.progress(done, total, architecture+", "+one.name)
				l, err := o.isolated(ctx, architecture, one.beside)
				if err != nil {
					return nil, fmt.Errorf("cannot measure %s, %s: %w", architecture, one.name, err)
				}
				*one.into = append(*one.into, l)
				done++
			}
		}
	}
	o.progress(total, total, "done")
	return all, nil
}

func doNotRead(ctx context.Context, to string) {
	o := loadtest.DefaultLoadOptions()
	o.To, o.First = to, neighbourFirst
	loadtest.Flood(ctx, o)
}

// submitToSilent submits messages that are routed to the SMSC that never answers. They are
// accepted until the queue is full, and answered late from then on. Its result is not
// used.
func submitToSilent(ctx context.Context, to string) {
	o := loadtest.DefaultLoadOptions()
	o.To, o.First, o.Destination = to, neighbourFirst, silentPrefix
	o.Rate, o.Window, o.Duration, o.Timeout = silentRate, 100, time.Hour, time.Second
	_, _ = loadtest.Load(ctx, o)
}

// isolated returns the latency of the calm load beside a neighbour.
func (o *Options) isolated(ctx context.Context, architecture string, beside neighbour) (l loadtest.Latency, err error) {
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		return l, err
	}
	defer sink.Close()
	silent, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Faults: loadtest.Faults{Mute: true}})
	if err != nil {
		return l, err
	}
	defer silent.Close()
	s := Setting{architecture, LogsNothing, calmConnections, 10, "", ""}
	c, err := startGateway(
		ctx, o.gateway(architecture), gatewayConfig{Setting: s, Sink: sink.Addr(), Sessions: 4, Silent: silent.Addr()},
	)
	if err != nil {
		return l, err
	}
	var running sync.WaitGroup
	neighbourCtx, stop := context.WithCancel(ctx)
	defer running.Wait() // after the gateway has ended, because then the neighbour does not wait for answers
	defer c.Stop()
	defer stop()
	if beside != nil {
		running.Go(func() { beside(neighbourCtx, c.Address) })
	}
	load := loadtest.DefaultLoadOptions()
	load.To, load.Connections, load.Window, load.Rate = c.Address, s.Connections, s.Window, calmRate
	load.Duration = neighbourTime
	ahead, err := loadtest.Load(ctx, load)
	if err != nil {
		return l, err
	}
	load.First, load.Duration = ahead.Messages, calmTime
	r, err := loadtest.Load(ctx, load)
	if err != nil {
		return l, err
	}
	if problems := r.Problems(); problems != nil {
		return l, fmt.Errorf("%v", problems)
	}
	status, err := statusOf(c)
	if others := status.connector("clients").Accepted - ahead.Accepted - r.Accepted; err == nil && beside != nil && others == 0 {
		err = errors.New("no message of the neighbour was accepted, so it did not disturb the gateway")
	}
	return r.Latency, err
}
