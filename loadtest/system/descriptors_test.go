package system

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

const descriptorsConfig = `
log: {format: json}
limits: {prebind_per_address: 1000}
pdulog: {dir: %q}
admin: {address: "127.0.0.1:0"}
store: {dir: %q, ballast: 0B}
events: {dir: %q, rotate_every: 0s}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 100}
  - {name: operator, direction: out, address: %q, instances: 4, window: 100, max_queue: 100000, system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{to: operator}]
`

// T19: a process that may have few file descriptors keeps those that its store, its logs and its
// own connections need, however many clients come. It accepts, stores and sends, loses
// nothing, logs why clients wait, and takes them again when others have gone.
func TestFewDescriptors(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	for _, limit := range []int{64, 256} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			crowded(t, limit)
		})
	}
}

const noDescriptors = "a client was refused: the file descriptors that are left are for our own connections; raise the limit with ulimit -n"

func crowded(t *testing.T, limit int) {
	const before, during = 80_000, 4000
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	dir := process.NewStoreDir(t)
	fill(t, dir, before) // so that the store has tables to read and to merge
	p := program(t).ServeLimited(t, limit, process.WriteConfig(t, fmt.Sprintf(descriptorsConfig, dir+"-logs", dir, dir+"-events", sink.Addr())))
	listening := p.Wait("listening")
	load := loadtest.DefaultLoadOptions()
	load.To, load.Connections, load.Window, load.Timeout = listening.Address, 4, 20, testutil.Patience
	load.First, load.Messages = before, during
	var crowd []net.Conn
	leave := func() {
		for _, c := range crowd {
			c.Close()
		}
	}
	defer leave()
	load.Bound = func() {
		for range 2 * limit {
			c, err := net.Dial("tcp", listening.Address)
			if err != nil {
				t.Error(err)
				return
			}
			crowd = append(crowd, c)
		}
		p.Wait(noDescriptors)
	}
	r, err := loadtest.Load(t.Context(), load)
	if err != nil {
		t.Fatal("with the crowd: ", err)
	}
	if r.Problems() != nil || r.Accepted != during {
		t.Errorf("with the crowd: %v", r.Problems())
	}
	leave()
	load.First, load.Messages, load.Bound = before+during, 100, nil
	testutil.Eventually(t, "the gateway has seen that the crowd is gone", func() bool { // until then it refuses connections
		r, err = loadtest.Load(t.Context(), load)
		return err == nil
	})
	if r.Problems() != nil || r.Accepted != 100 {
		t.Errorf("behind the crowd: %v", r.Problems())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*testutil.Patience)
	defer cancel()
	if err := sink.Await(ctx, before+during+100); err != nil {
		t.Error(err)
	}
	p.Settle()
	if status := p.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for _, line := range p.Problems() {
		if !strings.Contains(line, noDescriptors) {
			t.Error(line)
		}
	}
	isEmpty(t, dir)
	if s := sink.Result(); s.Unique != before+during+100 || s.Doubled != 0 {
		t.Errorf("%d messages have arrived, %d of them twice", s.Unique, s.Doubled)
	}
}
