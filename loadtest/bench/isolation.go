package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pmg/loadtest"
)

// The load whose latency is looked at, and the one for the SMSC that is silent.
const (
	calmConnections = 16
	calmRate        = 5000
	calmTime        = 3 * time.Second
	silentRate      = 500
	neighbourTime   = time.Second // before the calm load, for the trouble to begin
	silentPrefix    = "999"
	otherNumbers    = 1 << 32 // messages of the trouble are numbered from here
)

// An Isolation is how late the answers of a calm, paced load are: when it is
// alone, beside a client that submits and never reads, and beside messages for
// an SMSC that never answers. One value a round.
type Isolation struct {
	Architecture string             `json:"architecture"`
	Alone        []loadtest.Latency `json:"alone"`
	Unread       []loadtest.Latency `json:"client_does_not_read"`
	Silent       []loadtest.Latency `json:"smsc_does_not_answer"`
}

// A neighbour makes trouble until ctx ends; to is the gateway. Nil is none.
type neighbour func(ctx context.Context, to string)

// Isolate measures every architecture of the options with either trouble.
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
				name  string
				into  *[]loadtest.Latency
				makes neighbour
			}{
				{"alone", &p.Alone, nil},
				{"client does not read", &p.Unread, doNotRead},
				{"SMSC does not answer", &p.Silent, feedSilence},
			} {
				o.progress(done, total, architecture+", "+one.name)
				l, err := o.isolated(ctx, architecture, one.makes)
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
	o.To, o.First = to, otherNumbers
	loadtest.Flood(ctx, o)
}

// feedSilence submits what is routed to the silent SMSC. It is accepted until the
// queue is full, and answered late from then on: what comes of it is no matter.
func feedSilence(ctx context.Context, to string) {
	o := loadtest.DefaultLoadOptions()
	o.To, o.First, o.Destination = to, otherNumbers, silentPrefix
	o.Rate, o.Window, o.Duration, o.Timeout = silentRate, 100, time.Hour, time.Second
	_, _ = loadtest.Load(ctx, o)
}

// isolated returns the latency of the calm load beside a neighbour.
func (o *Options) isolated(ctx context.Context, architecture string, makes neighbour) (l loadtest.Latency, err error) {
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
	s := Setting{architecture, LogsNothing, calmConnections, 10}
	c, err := startGateway(ctx, o.Gateway, gatewayConfig{Setting: s, Sink: sink.Addr(), Sessions: 4, Silent: silent.Addr()})
	if err != nil {
		return l, err
	}
	var running sync.WaitGroup
	troubled, stop := context.WithCancel(ctx)
	defer running.Wait() // after the gateway is gone, for nothing is waited for then
	defer c.stop()
	defer stop()
	if makes != nil {
		running.Go(func() { makes(troubled, c.address) })
	}
	load := loadtest.DefaultLoadOptions()
	load.To, load.Connections, load.Window, load.Rate = c.address, s.Connections, s.Window, calmRate
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
	status, err := c.status()
	if others := status.connector("clients").Accepted - ahead.Accepted - r.Accepted; err == nil && makes != nil && others == 0 {
		err = errors.New("there was no trouble: nothing was accepted from the neighbour")
	}
	return r.Latency, err
}
