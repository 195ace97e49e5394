package soak

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"pmg/loadtest"
)

// reconnecters are clients that log in, send a few messages, log out and connect again,
// until they are stopped. Each message must arrive.
type reconnecters struct {
	to     string
	sink   *loadtest.Sink
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	problems []string
	loads    int64
	accepted int64
	open     []*loadtest.LoadResult // loads whose messages have not all arrived yet
}

const (
	reconnecting = 4             // clients at the same time
	perLogin     = 50            // messages
	firstNumber  = 1_000_000_000 // of the first client's messages; also how many numbers each client has
)

func startReconnecters(to string, sink *loadtest.Sink) *reconnecters {
	ctx, cancel := context.WithCancel(context.Background())
	a := &reconnecters{to: to, sink: sink, cancel: cancel}
	for i := range reconnecting {
		a.wg.Go(func() {
			for n := int64(i+1) * firstNumber; ctx.Err() == nil; n += perLogin {
				a.one(n)
			}
		})
	}
	return a
}

// one runs a client from its login to its logout.
func (a *reconnecters) one(first int64) {
	r, err := loadtest.Load(context.Background(), options(a.to, "again", func(o *loadtest.LoadOptions) {
		o.First, o.Messages, o.Window = first, perLogin, 5
	}))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loads++
	if err != nil {
		a.problems = append(a.problems, err.Error())
		return
	}
	a.problems = append(a.problems, r.Problems()...)
	a.accepted += r.Accepted
	// A load is forgotten when all of its messages have arrived.
	seen := a.sink.Result()
	a.open = slices.DeleteFunc(append(a.open, r), func(l *loadtest.LoadResult) bool {
		return loadtest.Compare(l, seen).Missing == 0
	})
}

// stop ends the clients. It returns how often they logged in, and how many of their
// messages were accepted.
func (a *reconnecters) stop(t *testing.T) (loads, accepted int64) {
	a.cancel()
	a.wg.Wait()
	for _, p := range a.problems {
		t.Errorf("a client that reconnects: %s", p)
	}
	return a.loads, a.accepted
}

// check fails the test if accepted messages have not arrived.
func (a *reconnecters) check(t *testing.T, seen *loadtest.SinkResult) {
	for _, l := range a.open {
		if n := loadtest.Compare(l, seen).Missing; n != 0 {
			t.Errorf("%d messages of a client that reconnects are missing", n)
		}
	}
}

// full is a client whose messages all go to the destination for which the SMSC has
// no room.
type full struct {
	cancel context.CancelFunc
	done   chan struct{}
	result *loadtest.LoadResult
	err    error
}

func startFull(to string) *full {
	ctx, cancel := context.WithCancel(context.Background())
	f := &full{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.result, f.err = loadtest.Load(ctx, options(to, "full", func(o *loadtest.LoadOptions) {
			o.First, o.Duration, o.Rate, o.Destination = 100*firstNumber, 24*time.Hour, 2, fullDestination
		}))
	}()
	return f
}

// stop ends the client and returns how many of its messages the gateway has accepted.
func (f *full) stop(t *testing.T) int64 {
	f.cancel()
	<-f.done
	if f.err != nil {
		t.Fatal(f.err)
	}
	for _, p := range f.result.Problems() {
		t.Errorf("the client of the full destination: %s", p)
	}
	return f.result.Accepted
}
