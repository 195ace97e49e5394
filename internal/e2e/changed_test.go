package e2e

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"pmg/internal/testutil"
	"pmg/sms"
)

// A message whose connector is removed while it is replaced goes where its route leads since then,
// as it is since then; without a route it ends, and its client is told so.
func TestReplaceWithoutLane(t *testing.T) {
	parallel(t)
	for _, leads := range []bool{true, false} {
		t.Run(fmt.Sprint(leads), func(t *testing.T) {
			disk, second := &hangingDisk{}, newSMSC(t)
			s := site{store: errorfs.Wrap(vfs.NewMem(), disk), routes: "{to: first}",
				more: downRow(t, "first", "static: false") + "\n" + row("second", second, "static: false")}
			g := start(t, s)
			c := g.bind("transceiver")
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
				c.wantReceipt(id, "REJECTD")
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
