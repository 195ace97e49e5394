package receipts

import (
	"testing"
	"time"

	"pmg/sms"
	"pmg/store"
)

// What became of a message is counted for its network and for the connector of its receipt, each part by itself, whoever has asked
// for a receipt. The client's receipt has the network of the message.
func TestCountsByNetwork(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	network, _ := sms.ReadNetwork("24001")
	wall := p.Matcher.node.Clock.Wall(p.now)
	for i, c := range []struct {
		state       sms.State
		notify      sms.Notify
		part, parts uint8
		network     sms.Network
	}{
		{sms.StateDelivered, sms.NotifySuccess, 0, 1, network}, {sms.StateDelivered, 0, 0, 1, network},
		{sms.StateDelivered, sms.NotifySuccess, 0, 2, network}, {sms.StateUndeliverable, sms.NotifySuccess, 0, 1, network},
		{sms.StateEnroute, sms.NotifyProgress, 0, 1, network}, {sms.StateDelivered, sms.NotifySuccess, 0, 1, 0},
	} {
		m, f := partOf(p, c.part, c.parts, c.state, "")
		f.Mapping.ID, f.Mapping.Network, f.Mapping.Notify, f.Mapping.Arrived, f.Mapping.DeliverAt = uint64(1000+10*i), c.network, c.notify, wall-int64(3*time.Second), 0
		if share, _ := p.Direct(p.now, m, f); share != nil && m.Network != c.network {
			t.Errorf("%+v: the receipt has network %q", c, m.Network)
		}
	}
	counts := p.Matcher.table.Connector("operator").Stats.Networks.Counts()
	if len(counts) != 1 || counts[0].Network != network || counts[0].Delivered != 3 || counts[0].Undelivered != 1 || counts[0].Delay != 9*int64(time.Second) {
		t.Errorf("%+v", counts)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
