package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// traffic is clients that submit by SMPP, some with receipts, and by HTTP with keys and in streams, the SMSC, and a webhook. It
// compares all that they have seen.
type traffic struct {
	t       *testing.T
	sink    *loadtest.Sink
	hook    *httptest.Server
	told    sync.Map // by the reference of a message of HTTP: the webhook has got its end
	words   sync.Map // by "number text" of an MO: how often the webhook has got it, an *atomic.Int64
	loads   *stubborn
	clients []*receiver
	poster  *poster
	posting sync.WaitGroup
	ended   atomic.Bool
	stop    context.CancelFunc
}

// startTraffic starts SMSC and webhook at an address each. Clients start with submits.
func startTraffic(t *testing.T, smsc, host string) *traffic {
	x := &traffic{t: t}
	var err error
	x.sink, err = loadtest.StartSink(loadtest.SinkOptions{
		Listen: smsc + ":0", Receipts: true, Delay: 40 * time.Millisecond, Receipt: loadtest.ReceiptOptions{DelayMax: 300 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.sink.Close() })
	x.hook = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct {
			Type string
			Data struct {
				Reference  string `json:"client_reference"`
				From, Text string
			}
		}
		if json.NewDecoder(r.Body).Decode(&e) != nil {
			return
		}
		switch e.Type {
		case "message.delivered":
			x.told.Store(e.Data.Reference, true)
		case "inbound.received":
			n, _ := x.words.LoadOrStore(strings.TrimPrefix(e.Data.From, "+")+" "+e.Data.Text, new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		}
	}))
	if x.hook.Listener, err = net.Listen("tcp", host+":0"); err != nil {
		t.Fatal(err)
	}
	x.hook.Start()
	t.Cleanup(x.hook.Close)
	return x
}

// submits starts the clients, which connect to the addresses of a balancer.
func (x *traffic) submits(smpp, api string) {
	x.loads = startStubborn(2)
	x.loads.to.Store(&smpp)
	x.clients = []*receiver{newReceiver("one", &x.loads.to), newReceiver("two", &x.loads.to)}
	x.poster = &poster{url: "http://" + api, ids: map[string]map[string]bool{}}
	var ctx context.Context
	ctx, x.stop = context.WithCancel(x.t.Context())
	x.t.Cleanup(x.stop)
	var number atomic.Int64
	number.Store(900_000_000_000) // the loads have those below
	x.posting.Go(func() {
		for !x.ended.Load() {
			x.poster.stream(ctx, number.Add(streamed)-streamed+1)
		}
	})
	for range 3 {
		x.posting.Go(func() {
			for !x.ended.Load() {
				x.poster.post(ctx, number.Add(1))
			}
		})
	}
}

// received returns how often the webhook has got an MO, given as its number and its text.
func (x *traffic) received(word string) int {
	n, ok := x.words.Load(word)
	if !ok {
		return 0
	}
	return int(n.(*atomic.Int64).Load())
}

// arrived returns how many messages have arrived, and how many of them twice.
func (x *traffic) arrived() (unique, doubled int64) {
	r := x.sink.Result()
	return r.Unique, r.Doubled
}

// accepted returns how many messages with receipts were accepted.
func (x *traffic) accepted() (n int) {
	for _, c := range x.clients {
		c.mu.Lock()
		n += len(c.accepted)
		c.mu.Unlock()
	}
	return n
}

// flows waits until messages are accepted and arrive.
func (x *traffic) flows(g *clusterRig) {
	x.t.Helper()
	accepted := x.accepted()
	before, _ := x.arrived()
	testutil.Eventually(x.t, "messages are accepted and arrive", func() bool {
		g.supervise()
		now, _ := x.arrived()
		return now > before+50 && x.accepted() > accepted+10
	})
}

// end ends the clients. Each message that was accepted must arrive, with a receipt or an end at the webhook.
func (x *traffic) end() {
	t := x.t
	for _, c := range x.clients {
		c.submits.Store(false)
	}
	x.loads.cancel()
	x.loads.wg.Wait()
	x.ended.Store(true)
	x.posting.Wait()
	for _, c := range x.clients {
		testutil.Eventually(t, "each message of "+c.account+" has a receipt", func() bool { return c.missing() == 0 })
	}
	testutil.Eventually(t, "all has arrived", func() bool { return x.loads.missing(x.sink.Result()) == 0 })
	testutil.Eventually(t, "the webhook has all ends", func() bool {
		for reference := range x.poster.ids {
			if _, ok := x.told.Load(reference); !ok {
				return false
			}
		}
		return true
	})
	for _, c := range x.clients {
		c.cancel()
		c.done.Wait()
		if len(c.accepted) == 0 || len(c.problems) > 0 {
			t.Errorf("account %s: %d messages accepted, %q", c.account, len(c.accepted), c.problems)
		}
		t.Logf("account %s: %d messages accepted, all with a receipt", c.account, len(c.accepted))
	}
	for reference, ids := range x.poster.ids {
		if len(ids) != 1 {
			t.Errorf("%s was accepted under %d ids", reference, len(ids))
		}
	}
	r := x.sink.Result()
	t.Logf("%d messages by HTTP with keys or references, each under one id, arrived, its end at the webhook; %d of clients without receipts, "+
		"none missing; %d have arrived, %d of them twice", len(x.poster.ids), x.loads.accepted, r.Unique, r.Doubled)
}

// events waits until the directories have one final event for each message that was accepted, also for the ids of more, and one
// only. The last ones of an owner may stand in two of them, with the same octets.
func (x *traffic) events(dirs []string, more map[string]string) {
	t := x.t
	wanted := map[string]bool{}
	for id := range more {
		wanted[id] = true
	}
	for _, c := range x.clients {
		for id := range c.accepted {
			wanted[id] = true
		}
	}
	for _, ids := range x.poster.ids {
		for id := range ids {
			wanted[id] = true
		}
	}
	least := len(wanted) + int(x.loads.accepted)
	var e *endings
	var missing string
	for end := time.Now().Add(testutil.Patience); ; time.Sleep(100 * time.Millisecond) {
		e = readEndings(t, dirs)
		if missing = e.missing(wanted, least); missing == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("events: %s", missing)
		}
	}
	for id, number := range e.ids {
		if !bytes.Contains(e.numbers[number], []byte(id)) {
			t.Errorf("message %s has an event that is not its own", id)
		}
	}
	for _, line := range e.twice {
		t.Errorf("a message has ended twice, or an event has two texts: %s", line)
	}
	t.Logf("%d events, %d of them of submits, one a message, numbers without a gap; %d in two directories", len(e.numbers), e.submits, e.again)
}

// endings are the events of all nodes.
type endings struct {
	numbers map[uint64][]byte // the line of each number
	ids     map[string]uint64 // the number of each message's event
	twice   []string
	submits int
	again   int // events that stand in two directories
	last    uint64
}

// missing returns what is not there yet of what there must be.
func (e *endings) missing(wanted map[string]bool, least int) string {
	var ids []string
	for id := range wanted {
		if e.ids[id] == 0 {
			ids = append(ids, id)
		}
	}
	var gaps []uint64
	for n := range e.last {
		if e.numbers[n+1] == nil {
			gaps = append(gaps, n+1)
		}
	}
	if len(ids) == 0 && len(gaps) == 0 && e.submits >= least {
		return ""
	}
	return fmt.Sprintf("%d of %d messages have none, such as %q; %d of at least %d of submits; numbers %d are missing up to %d",
		len(ids), len(wanted), ids[:min(3, len(ids))], e.submits, least, gaps[:min(5, len(gaps))], e.last)
}

func readEndings(t *testing.T, dirs []string) *endings {
	e := &endings{numbers: map[uint64][]byte{}, ids: map[string]uint64{}}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "events*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(text) {
				e.add(line)
			}
		}
	}
	return e
}

func (e *endings) add(line []byte) {
	var one struct {
		Number   uint64
		ID, Kind string
	}
	if json.Unmarshal(line, &one) != nil || one.Number == 0 {
		return // the file with the last number, or a line that is being written
	}
	if before, ok := e.numbers[one.Number]; ok {
		if !bytes.Equal(before, line) {
			e.twice = append(e.twice, string(line), string(before))
		}
		e.again++
		return
	}
	e.numbers[one.Number] = line
	if e.ids[one.ID] != 0 {
		e.twice = append(e.twice, string(line), string(e.numbers[e.ids[one.ID]]))
	}
	e.ids[one.ID] = one.Number
	if e.last = max(e.last, one.Number); one.Kind == "submit" {
		e.submits++
	}
}
