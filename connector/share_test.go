package connector

import (
	"testing"

	"pmg/sms"
)

// An account has one share of a lane, by whatever connector its messages come, and is found
// without a look at the others.
func TestShareOfAccount(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10")
	a, again := &sms.Origin{Account: "a", Connector: "one"}, &sms.Origin{Account: "a", Connector: "two"}
	none, other := &sms.Origin{Connector: "one"}, &sms.Origin{Connector: "two"}
	first := d.Queues.Share(a, 100)
	for range 2 {
		if d.Queues.Share(a, 100) != first || d.Queues.Share(again, 100) != first {
			t.Error("an account has two shares")
		}
		if d.Queues.Share(none, 100) == d.Queues.Share(other, 100) || d.Queues.Share(none, 100) == first {
			t.Error("connectors without an account have one share")
		}
	}
	shares := 0
	d.Queues.Shares(func(*Share) { shares++ })
	if shares != 3 || len(d.Queues.byOrigin) != 4 {
		t.Errorf("%d shares, found by %d origins", shares, len(d.Queues.byOrigin))
	}
}
