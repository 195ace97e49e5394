package e2e

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
	"pmg/store"
)

// An unreadable store cannot be read by key while it is broken.
type unreadable struct {
	store.Store
	broken atomic.Bool
}

var errUnreadable = errors.New("input/output error")

func (s *unreadable) Get(id uint64, e *store.Entry) (bool, error) {
	if s.broken.Load() {
		return false, errUnreadable
	}
	return s.Store.Get(id, e)
}

func (s *unreadable) Lookup(kind store.Kind, key []byte) ([]byte, bool, error) {
	if s.broken.Load() {
		return nil, false, errUnreadable
	}
	return s.Store.Lookup(kind, key)
}

// unreadableStore wraps a site's store. The store of a gateway that starts later is the latest.
func (s *site) unreadableStore() *atomic.Pointer[unreadable] {
	var latest atomic.Pointer[unreadable]
	s.wrap = func(in store.Store) store.Store {
		latest.Store(&unreadable{Store: in})
		return latest.Load()
	}
	return &latest
}

// A receipt whose message cannot be looked up is refused, so that the SMSC sends it again: it is
// neither an orphan nor lost. So are those with its id that came behind it.
func TestReceiptLookUpFails(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem()}
	disk := s.unreadableStore()
	g := start(t, s)
	client, smsc := g.bind("transceiver"), s.operator.session()
	known := client.submitted(smsc, 1, "A1")
	smsc.fence()
	g.settled()
	g = g.powerCut(&s, client, smsc) // what ids stand for is in the store alone
	client, smsc = g.bind("transceiver"), s.operator.session()
	disk.Load().broken.Store(true)
	smsc.send(smscReceipt(101, "A1", "DELIVRD"), smscReceipt(102, "A1", "DELIVRD"), smscReceipt(103, "B2", "DELIVRD"))
	for range 3 {
		smsc.want("deliver_sm_resp", "status=0x8(ESME_RSYSERR)")
	}
	if n := g.log.count("cannot find out where a receipt belongs", errUnreadable.Error()); n != 1 {
		t.Errorf("%d lines of the log say so", n)
	}
	if r := &g.Receipts.Counts; r.Matched.Load() != 0 || r.Unmatched.Load() != 0 || g.stats("operator").Receipts.Counts()["enroute"] != 0 {
		t.Errorf("receipts that were refused are counted: %d and %d", r.Matched.Load(), r.Unmatched.Load())
	}
	disk.Load().broken.Store(false)
	smsc.receipt(104, "A1", "DELIVRD")
	client.wantReceipt(known, "DELIVRD")
	smsc.receipt(105, "B2", "DELIVRD")
	g.wantStored(operate.StateOrphan)
	client.fence()
	if !client.silent("deliver_sm") {
		t.Error("a receipt came twice")
	}
}

// A message whose body is on disk alone is replaced, with its attempts. If it cannot be read, the
// client is refused, and the message stays as it is.
func TestReplaceOnDisk(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), out: "static: false, window: 1, retry: [1h, repeat]"}
	disk := s.unreadableStore()
	g := start(t, s)
	client := g.bind("transmitter")
	one := client.submitOne(1)
	smsc := s.operator.session()
	smsc.answer(0x14, smsc.take(1, 1)...) // ESME_RMSGQFUL
	testutil.Eventually(t, "it waits again", func() bool { return g.stats("operator").Retried.Load() == 1 })
	s.operator.down()
	smsc.conn.Close()
	g.online("operator", 0)
	two := client.submitOne(2)
	if err := g.Gateway.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	s.operator.up()
	g = g.powerCut(&s, client)
	s.operator.down()
	client = g.bind("transmitter")
	replace := func(seq int, id, text string) string {
		return fmt.Sprintf("replace_sm seq=%d message_id=%s source_addr=1234 short_message=%q", seq, id, text)
	}
	disk.Load().broken.Store(true)
	client.ask(replace(10, two, "lost"), "status=0x8(ESME_RSYSERR)")
	client.ask(replace(11, two, "lost"), "status=0x8(ESME_RSYSERR)")
	if n := g.log.count("cannot carry out a client's operation", errUnreadable.Error(), `"account":"acme"`); n != 1 {
		t.Errorf("%d lines of the log say so", n)
	}
	disk.Load().broken.Store(false)
	client.ask(replace(12, one, "waits"), "status=0")
	p, err := g.Operate.ListStored(operate.Selection{}, 0, 10)
	if err != nil || len(p.Messages) != 2 || p.Messages[0].Attempts != 1 || p.Messages[0].NextAttempt == nil || p.Messages[0].Octets != len("waits") {
		t.Errorf("%+v, %v", p.Messages, err)
	}
	s.operator.up()
	smsc = s.operator.session()
	smsc.serve(2, 2)
	g.wantStored(operate.StateQueued)
}
