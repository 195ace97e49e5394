package system

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/sms"
	"pmg/store/journal"
	"pmg/store/journal/nats"
)

// Somebody with the secret publishes a record that no node can read, under load: messages wait, receipts are to come, and an account
// spends what it has paid. All processes are killed. No node works any more, until one of them is repaired, with all of it. Its
// store is encrypted, and so are the others.
func TestClusterRepair(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Receipts: true, Delay: 60 * time.Millisecond, Receipt: loadtest.ReceiptOptions{DelayMax: 25 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	g := newClusterRig(t, []*natstest.Server{server}, clusterTimes{5 * time.Second, 6 * time.Second}, sink.Addr())
	dirs := g.money()
	loads := startStubborn(2)
	clients := []*receiver{newReceiver("one", &loads.to), newReceiver("two", &loads.to)}
	owner := g.owner(nil)
	pay(t, owner, "10000")
	loads.to.Store(&owner.address)
	g.wants(" standby ", "status")
	testutil.Eventually(t, "messages wait, and receipts are to come", func() bool {
		return sink.Result().Unique > 500 && owner.p.Status().Queued > 100 && clients[0].missing() > 10
	})
	var status struct{ Epoch uint32 }
	out, _ := g.run("status", "--json")
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		t.Fatal(err)
	}
	junk(t, server, journal.ID{Node: 99, Run: status.Epoch + 1, Number: 1})
	testutil.Eventually(t, "no node works", func() bool {
		return g.nodes[0].ended() && g.nodes[1].ended() && g.nodes[2].ended()
	})
	g.supervise()
	g.nodes[1].p.Wait("standing by")
	for i := range g.nodes {
		g.nodes[i].p.Kill()
	}
	g.repair()

	owner = g.owner(nil)
	loads.to.Store(&owner.address)
	before := sink.Result().Unique
	testutil.Eventually(t, "messages arrive again", func() bool { g.supervise(); return sink.Result().Unique > before+500 })
	g.settle(sink, loads, clients)
	g.wants("3 copies have the same", "check")
	balance := amountOf(t, wantsNothingReserved(t, owner.p, "load").Balance)
	if charged := chargedOnce(t, dirs); balance != amountOf(t, "10000")-charged || charged == 0 {
		t.Errorf("10000 paid, %s charged, and the balance is %s", charged, balance)
	}
}

// money gives the nodes prices, a key of their stores, and directories of events, which it returns.
func (g *clusterRig) money() (events []string) {
	t := g.t
	prices, key := filepath.Join(t.TempDir(), "prices.csv"), filepath.Join(t.TempDir(), "key")
	if err := errors.Join(
		os.WriteFile(prices, []byte("for,price\n*,0.01\n"), 0o600), os.WriteFile(key, []byte(strings.Repeat("6b", 32)), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for i := range g.nodes {
		events = append(events, t.TempDir()+"/events")
		g.edit(&g.nodes[i],
			"ballast: 0B}", fmt.Sprintf("ballast: 0B, key_file: %q}\nevents: {dir: %q, rotate_every: 0s}\n"+
				"prices: [{name: standard, currency: EUR, file: %q}]", key, events[i], prices),
			"{system_id: load, password: secret}", "{system_id: load, password: secret, prices: standard, balance: {mode: prepaid}}")
	}
	return events
}

// pay enters a payment for the account load.
func pay(t *testing.T, n *clusterNode, amount string) {
	t.Helper()
	n.p.Wait("serving")
	if out, err := program(t).Run("credit", "add", "load", amount, "-c", n.file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// junk publishes a record that verifies and cannot be read.
func junk(t *testing.T, server *natstest.Server, id journal.ID) {
	t.Helper()
	j, err := nats.Open(t.Context(), nats.Options{
		Servers: natstest.URLs(server), Connect: natstest.User(), Secrets: []string{"pmg"}, Stream: "PMG", Replicas: 1, Unsafe: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Append(id, []byte("no record")); err != nil {
		t.Fatal(err)
	}
}

// repair repairs the stream from the first node, and empties the stores of the others.
func (g *clusterRig) repair() {
	t := g.t
	t.Helper()
	out, err := g.run("repair", "--yes")
	if err == nil || !strings.Contains(err.Error(), "stop all nodes") {
		t.Errorf("right behind the end of the nodes: %v: %s", err, out)
	}
	testutil.Eventually(t, "the nodes are silent", func() bool {
		if out, err = g.run("repair"); err != nil && !strings.Contains(err.Error(), "stop all nodes") {
			t.Fatal(err)
		}
		return err == nil
	})
	if !strings.Contains(out, "Nothing is changed yet.") || !strings.Contains(out, " cannot be read: ") {
		t.Errorf("without --yes: %s", out)
	}
	if out, err = g.run("repair", "--yes"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Log(out)
	for i := range g.nodes[1:] {
		if err := os.RemoveAll(g.nodes[i+1].store); err != nil {
			t.Fatal(err)
		}
	}
}

// chargedOnce returns the sum of the prices of the events of all nodes, each event once.
func chargedOnce(t *testing.T, dirs []string) (sum sms.Money) {
	t.Helper()
	e := readEndings(t, dirs)
	for _, line := range e.numbers {
		var one struct{ Price string }
		if json.Unmarshal(line, &one) == nil && one.Price != "" {
			sum += amountOf(t, one.Price)
		}
	}
	for _, line := range e.twice {
		t.Errorf("a message has ended twice, or an event has two texts: %s", line)
	}
	return sum
}
