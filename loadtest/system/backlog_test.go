package system

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/sms"
	"pmg/store"
)

var backlog = flag.Int("backlog", 20_000, "messages that wait when TestBacklog starts the gateway; from a million on it checks the figures")

const backlogConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0"}
store: {dir: %q, ballast: 0B}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: %q, instances: 8, window: 100, max_queue: %d,
     system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{to: operator}]
`

// T8: a gateway that starts with a large backlog accepts messages meanwhile, needs little
// memory, and loses nothing; afterwards its store is small.
func TestBacklog(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	dir, to := process.NewStoreDir(t), testutil.FreeAddress(t)
	fill(t, dir, *backlog)
	full := dirSize(t, dir)
	file := process.WriteConfig(t, fmt.Sprintf(backlogConfig, dir, to, *backlog+1)) // room for one message beside those
	p := program(t).Serve(t, file)
	listening := p.Wait("listening")
	one := loadtest.DefaultLoadOptions()
	one.To, one.Messages, one.First, one.Timeout = listening.Address, 1, int64(*backlog), testutil.Patience
	r, err := loadtest.Load(t.Context(), one)
	if err != nil || r.Accepted != 1 {
		t.Fatalf("error %v, result %+v", err, r)
	}
	accepted := time.Since(p.Began)
	indexed := p.Wait("messages of earlier runs are in their queues again")
	if indexed.Messages != *backlog {
		t.Errorf("%d messages are in their queues", indexed.Messages)
	}
	resident := memory(p, "VmRSS")

	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: to})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	testutil.Eventually(t, "the gateway is connected", func() bool { return sink.Result().Submits > 0 })
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), max(testutil.Patience, time.Duration(*backlog)*time.Millisecond))
	defer cancel()
	if err := sink.Await(ctx, int64(*backlog)+1); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	p.Settle()
	settled := time.Now()
	var left int64
	for {
		if left = dirSize(t, dir); left < 100<<20 || time.Since(settled) > 2*testutil.Patience {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	shrunk := time.Since(settled)
	most := memory(p, "VmHWM")
	if s := sink.Result(); s.Doubled != 0 || s.Unique != int64(*backlog)+1 {
		t.Errorf("%d messages arrived, %d of them twice", s.Unique, s.Doubled)
	}
	if status := p.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for _, line := range p.Problems() {
		t.Error(line)
	}
	isEmpty(t, dir)
	t.Logf("%d messages of %d MiB: listening after %v, a message accepted after %v, all in their queues after %v with %d MiB resident; "+
		"drained in %v, %.0f a second, at most %d MiB resident; the store takes %d MiB %v later",
		*backlog, full>>20, listening.After.Round(time.Millisecond), accepted.Round(time.Millisecond), indexed.After.Round(time.Millisecond), resident>>20,
		took.Round(time.Millisecond), float64(*backlog)/took.Seconds(), most>>20, left>>20, shrunk.Round(time.Second))
	if *backlog < 1_000_000 {
		return
	}
	if accepted > 3*time.Second || indexed.After > 5*time.Second || most > 350<<20 || shrunk > time.Minute {
		t.Error("that is more than 3 s, 5 s, 350 MiB or a minute")
	}
}

// fill stores messages that wait for the operator, with the numbers from 0 on.
func fill(t *testing.T, dir string, n int) {
	t.Helper()
	s, err := store.Open(dir, store.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var pool sms.Pool
	var b store.Batch
	origin := &sms.Origin{Account: "load", Connector: "clients", Tally: &sms.Tally{}}
	first := uint64(time.Now().Add(-time.Hour).UnixMicro())
	filler := bytes.Repeat([]byte{'x'}, 120)
	for i := range n {
		m := pool.Get()
		m.ID, m.Origin, m.Arrived = first+uint64(i), origin, time.Now().UnixNano()
		m.Set(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: fmt.Appendf(nil, "4670%07d", i)}, fmt.Appendf(nil, "#%012d %s", i, filler))
		b.Put(m, store.Lane{Connector: "operator"})
		m.Release()
		if b.Len() == 4096 || i == n-1 {
			if err := s.Commit(&b); err != nil {
				t.Fatal(err)
			}
			b.Reset()
		}
	}
}

// dirSize returns how many octets the files in a directory have.
func dirSize(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // pebble has just removed it
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// memory returns a line of what the system knows of the process's memory, in octets; 0 where
// it does not say.
func memory(p *process.Process, line string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for text := range bytes.Lines(status) {
		if f := bytes.Fields(text); len(f) == 3 && string(f[0]) == line+":" {
			kib, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return kib << 10
		}
	}
	return 0
}
