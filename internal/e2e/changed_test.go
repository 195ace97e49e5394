package e2e

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// The connector of a message is removed while the message is replaced. The new text goes where the
// route leads now. Without a route the message ends, and its client gets a receipt.
func TestReplaceWithoutLane(t *testing.T) {
	parallel(t)
	for _, leads := range []bool{true, false} {
		t.Run(fmt.Sprint(leads), func(t *testing.T) {
			disk, second := &hangingDisk{}, newSMSC(t)
			s := site{store: errorfs.Wrap(vfs.NewMem(), disk), routes: "{to: first}",
				more: downRow(t, "first", "static: false") + "\n" + row("second", second, "static: false")}
			g := start(t, s)
			c, receiver := g.bind("transmitter"), g.bind("receiver") // the answer and the receipt come in no order
			id := c.submitOne(1, asks)
			release := disk.hang()
			t.Cleanup(release)
			c.send("replace_sm seq=2 message_id=" + id + ` source_addr=1234 registered_delivery=1 short_message="new"`)
			testutil.Eventually(t, "the change is being stored", func() bool { return disk.waits.Load() > 0 })
			var gone atomic.Bool
			first := g.Gateway.Table.Connector("first")
			s.more, s.routes = row("second", second, "static: false"), "{to: second}"
			if !leads {
				s.routes = `{destination: "99", to: second}`
			}
			g.mustReload(s)
			testutil.Eventually(t, "the lane is gone", func() bool {
				g.engine.Do(g.Gateway.Table.LaneOf(first), func(int64) { gone.Store(g.Gateway.Table.LaneOf(first).Gone()) })
				return gone.Load()
			})
			release()
			c.want("replace_sm_resp", "seq=2", "status=0")
			if leads {
				smsc := second.session()
				smsc.answer(0, field(smsc.want("submit_sm", `short_message="new"`), "seq"))
			} else {
				receiver.wantReceipt(id, "REJECTD")
			}
			g.wantStored()
			failed := int64(0)
			g.Gateway.Node.Origins.Tallies(func(account string, tally *sms.Tally) {
				if account == "acme" {
					failed = tally.Failed.Load()
				}
			})
			if n := first.Stats.Failed.Load(); n != failed || (n == 0) != leads {
				t.Errorf("%d messages of the connector have failed, and %d of the account", n, failed)
			}
		})
	}
}

// A scheduled message that was put aside stays scheduled when an operator routes it again.
func TestRetryScheduled(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.top, s.routes, s.out = "no_route: park\n", `{to: operator, destination: "99"}`, "max_queue: 2, static: false"
		g := start(t, s)
		c := g.bindFive()
		id := c.submitOne(1, "schedule_delivery_time=000000010000000R")
		c.submitOne(2)
		g.wantStored(operate.StateParked, operate.StateParked)
		s.routes = "{to: operator}"
		if err := g.reload(s); err != nil {
			t.Fatal(err)
		}
		g.wantChange(operate.RetryMessages, "", operate.Selection{}, operate.ResultRetried, operate.ResultRetried)
		smsc := s.operator.session()
		smsc.serve(2, 2)
		testutil.Eventually(t, "it is scheduled", func() bool {
			return g.Scheduled() == 1 && g.Pending() == 0 && g.Gateway.Keeper.Aside(store.Parked) == 0
		})
		c.send("query_sm seq=3 message_id=" + id + " source_addr=1234")
		if line := c.want("query_sm_resp", "seq=3", "status=0"); field(line, "message_state") != "" { // SCHEDULED, which is 0
			t.Error(line)
		}
		c.ask("cancel_sm seq=4 message_id="+id+" source_addr=1234", "status=0")
		testutil.Eventually(t, "nothing is left", func() bool { return g.Scheduled() == 0 && g.Pending() == 0 })
	})
}

// A receipt that waits for its client stays where it is when an operator routes all messages again.
// When its client's account is gone it cannot go anywhere.
func TestRetryReceipt(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), store: vfs.NewMem(), accounts: "{system_id: other, password: s3cret}"}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	known := c.submitted(smsc, 1, "A1")
	other := g.dial("clients")
	other.bind("transmitter", "other", "s3cret")
	other.submitted(smsc, 2, "B2")
	smsc.fence()
	g.settled()
	smsc.receipt(101, "A1", "DELIVRD")
	smsc.receipt(102, "B2", "DELIVRD")
	g.wantStored(operate.StateQueued, operate.StateQueued)
	g.wantChange(operate.RetryMessages, "", operate.Selection{}, operate.ResultRetried, operate.ResultRetried)
	p, err := g.Operate.ListStored(operate.Selection{Kind: "receipt", Account: "acme"}, 0, 10)
	if err != nil || len(p.Messages) != 1 || p.Messages[0].Receiver != "acme" || p.Messages[0].Connector != "" || p.Messages[0].About != known {
		t.Errorf("%+v, %v", p.Messages, err)
	}
	g.bind("receiver").wantReceipt(known, "DELIVRD")
	g.wantStored(operate.StateQueued)
	s.accounts = ""
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	g.wantChange(operate.RetryMessages, "", operate.Selection{}, operate.ResultNoRoute)
	g.wantStored(operate.StateQueued)
}
