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
	first := d.Share(a, 100)
	for range 2 {
		if d.Share(a, 100) != first || d.Share(again, 100) != first {
			t.Error("an account has two shares")
		}
		if d.Share(none, 100) == d.Share(other, 100) || d.Share(none, 100) == first {
			t.Error("connectors without an account have one share")
		}
	}
	shares := 0
	d.Shares(func(*Share) { shares++ })
	if shares != 3 || len(d.byOrigin) != 4 {
		t.Errorf("%d shares, found by %d origins", shares, len(d.byOrigin))
	}
}
