package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
	"pmg/internal/testkit/smpppeer"
	"pmg/internal/testkit/testutil"
)

// A failing is an engine that has failed.
type failing struct{ gateway.Engine }

func (failing) Failed() <-chan error {
	failed := make(chan error, 1)
	failed <- errors.New("cannot continue stage reader: broken")
	return failed
}

// startSmall starts a gateway whose SMSC does not answer.
func startSmall(t *testing.T) (*server, *testutil.Log) {
	t.Helper()
	cfg, _, err := config.Parse([]byte(`
pdulog: {enabled: false}
store: {engine: memory}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes: [{to: operator}]
`), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	log := &testutil.Log{}
	s, err := startServer(cfg, zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	return s, log
}

// submit sends n messages of a client.
func (s *server) submit(t *testing.T, n int) {
	t.Helper()
	c := smpppeer.Client{Addr: s.engine.Addresses(s.gateway.Table.Connector("clients"))[0].String(), SystemID: "load", Password: "secret"}
	if err := c.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// U4: a gateway that stops with accepted messages that were not sent exits with status 75
// and reports their number. Without such messages it exits with 0.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	s, log := startSmall(t)
	if err := s.givenUp(); err != nil {
		t.Errorf("%v without a message", err)
	}
	s.submit(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.stop(ctx); err != nil {
		t.Fatal(err)
	}
	err := s.givenUp()
	if err == nil || exitStatus(err) != 75 || !strings.Contains(err.Error(), "cannot send 3 accepted messages before the end, 0 of them scheduled") {
		t.Errorf("error %v, exit status %d", err, exitStatus(err))
	}
	if want := `{"level":"error","queued":3,"scheduled":0,"message":"stopped with messages`; !strings.Contains(log.String(), want) {
		t.Errorf("log\n%swithout\n%s", log.String(), want)
	}
}

// F21: a gateway whose engine fails logs an error, ends without waiting for a signal, and
// exits with status 70.
func TestEngineFails(t *testing.T) {
	t.Parallel()
	s, log := startSmall(t)
	s.engine = failing{s.engine}
	err := s.run(make(chan os.Signal), "")
	if err == nil || err.Error() != "cannot go on: cannot continue stage reader: broken" || exitStatus(err) != 70 {
		t.Errorf("error %v, exit status %d", err, exitStatus(err))
	}
	if want := `{"level":"error","error":"cannot continue stage reader: broken","message":"the gateway cannot go on; ending"}`; !strings.Contains(log.String(), want) {
		t.Errorf("log\n%swithout\n%s", log.String(), want)
	}
	if n := exitStatus(errors.New("any other")); n != 1 {
		t.Errorf("exit status %d of any other error", n)
	}
}

// A gateway whose store has failed logs an error, ends without waiting for a signal, and exits
// with status 75, also while it is stopping and although it cannot end.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	s, log := startSmall(t)
	s.storeFailed(errors.New("input/output error"))
	err := s.run(make(chan os.Signal), "")
	if err == nil || err.Error() != "cannot go on: the store has failed: input/output error" || exitStatus(err) != 75 {
		t.Errorf("error %v, exit status %d", err, exitStatus(err))
	}
	if want := `{"level":"error","error":"input/output error","message":"the store has failed: no message is confirmed any more`; !strings.Contains(log.String(), want) {
		t.Errorf("log\n%swithout\n%s", log.String(), want)
	}

	s, _ = startSmall(t)
	engine := stuckEngine{s.engine, make(chan struct{})}
	s.engine = engine
	go func() {
		<-engine.draining
		s.storeFailed(errors.New("input/output error"))
	}()
	if err := s.end(t.Context(), nil); exitStatus(err) != 75 {
		t.Errorf("error %v, exit status %d", err, exitStatus(err))
	}
	synctest.Test(t, func(t *testing.T) {
		s := &server{engine: hangingEngine{until: make(chan struct{})}, failed: make(chan error, 1)}
		defer close(s.engine.(hangingEngine).until)
		s.stopRecovery = func() {}
		s.gateway = &gateway.Gateway{}
		s.failed <- errors.New("input/output error")
		if err := s.run(make(chan os.Signal), ""); exitStatus(err) != 75 {
			t.Errorf("error %v, exit status %d", err, exitStatus(err))
		}
	})
}

// A gateway that was stopped ends although its disk hangs, with status 75, when the time to drain is
// over. One that ends a little later ends as usual.
func TestEndHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := hangingEngine{until: make(chan struct{})}
		defer close(engine.until)
		if err := endFor(t, engine); exitStatus(err) != 75 || !strings.HasPrefix(err.Error(), "cannot end cleanly: ") {
			t.Errorf("error %v, exit status %d", err, exitStatus(err))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if err := endFor(t, slowEngine{}); err != nil {
			t.Error(err)
		}
	})
}

// endFor ends a gateway with an engine, with half a minute to drain.
func endFor(t *testing.T, e gateway.Engine) error {
	g, err := gateway.New(&config.Config{}, zerolog.Nop(), newDriver)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // where the engine hangs, nobody has
	s := &server{gateway: g, engine: e, stopRecovery: func() {}, failed: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return s.end(ctx, nil)
}

// A slowEngine takes a while to end behind the time to drain.
type slowEngine struct{ quietEngine }

func (slowEngine) Drain(ctx context.Context) { <-ctx.Done(); time.Sleep(endTimeout / 2) }
func (slowEngine) Close() error              { return nil }

// A stuckEngine drains until its hurry is called.
type stuckEngine struct {
	gateway.Engine
	draining chan struct{}
}

func (e stuckEngine) Drain(ctx context.Context) {
	close(e.draining)
	<-ctx.Done()
	e.Engine.Drain(ctx)
}

// A hangingEngine does not end.
type hangingEngine struct {
	quietEngine
	until chan struct{}
}

func (e hangingEngine) Drain(context.Context) { <-e.until; runtime.Goexit() }

// SIGTERM and an interrupt end run without an error.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		signals := make(chan os.Signal, 1)
		signals <- sig
		s := &server{engine: quietEngine{}}
		if err := s.run(signals, ""); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
	}
}

// A quietEngine is an engine that never fails.
type quietEngine struct{ gateway.Engine }

func (quietEngine) Failed() <-chan error { return nil }
