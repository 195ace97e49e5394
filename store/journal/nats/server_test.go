package nats

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/store/journal"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// options are those for a stream on these servers.
func options(stream string, all ...*natstest.Server) Options {
	return Options{Secrets: []string{"common"}, Servers: natstest.URLs(all...), Stream: stream, Connect: natstest.User(), System: natstest.System()}
}

// alone are options for one server, which is never safe. An acknowledgement is waited for as long as a slow disk takes, so that each
// record is there once.
func alone(stream string, n *natstest.Server) Options {
	o := options(stream, n)
	o.Unsafe, o.Replicas, o.waits = true, 1, &waits{testutil.Patience, testutil.Patience, testutil.Patience}
	return o
}

// hasty are those of alone, but that a record is repeated as early as it is in use.
func hasty(stream string, n *natstest.Server) Options {
	o := alone(stream, n)
	o.waits.first = usualWaits().first
	return o
}

// opened opens a journal that is closed with the test.
func opened(t testing.TB, o Options) *Journal {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil && !errors.Is(err, journal.ErrClosed) {
			t.Error(err)
		}
	})
	return j
}

// admin returns JetStream for what no journal does.
func admin(t testing.TB, n *natstest.Server) jetstream.JetStream {
	t.Helper()
	o := alone("", n)
	n.Accepts()
	conn, err := Connect(o.Servers, o.Connect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(testutil.Patience))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// eventually waits for something that must happen.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen: " + what)
		}
	}
}
