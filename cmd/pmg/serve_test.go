package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
)

// A failing engine fails as soon as it is asked.
type failing struct{ gateway.Engine }

func (failing) Failed() <-chan error {
	failed := make(chan error, 1)
	failed <- errors.New("cannot continue stage reader: broken")
	return failed
}

// F21: a gateway whose engine fails logs that as an error, ends without waiting, and
// exits with status 70; SIGTERM is not needed for it.
func TestEngineFails(t *testing.T) {
	t.Parallel()
	cfg, _, err := config.Parse([]byte(`
pdulog: {enabled: false}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes: [{to: operator}]
`), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err := startServer(cfg, zerolog.New(zerolog.SyncWriter(&log)))
	if err != nil {
		t.Fatal(err)
	}
	s.engine = failing{s.engine}
	err = s.run(make(chan os.Signal), "")
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

// A quietEngine never fails.
type quietEngine struct{ gateway.Engine }

func (quietEngine) Failed() <-chan error { return nil }
