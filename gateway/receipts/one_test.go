package receipts

import (
	"testing"

	"pmg/sms"
)

// An SMSC that sends one receipt for all parts ends the message with it, whichever part's id it has.
func TestReceiptOfAllParts(t *testing.T) {
	t.Parallel()
	const accepted, delivered, failed = sms.StateAccepted, sms.StateDelivered, sms.StateUndeliverable
	for _, part := range []uint8{0, 1, 2} {
		g := newRigWith(t, "receipt_parts: one")
		r := steps(t, g,
			step{part, accepted, "000", passOn, accepted},
			step{part, delivered, "000", passOn, delivered})
		if r.Parts != 3 || r.Delivered != 3 {
			t.Errorf("%d: %+v", part, r)
		}
		steps(t, g,
			step{part, delivered, "000", passOn, delivered}, // it was not stored
			step{(part + 1) % 3, delivered, "000", Recorded, 0})
		g = newRigWith(t, "receipt_parts: one")
		if r := steps(t, g, step{part, failed, "022", passOn, failed}); r.Parts != 3 || r.Delivered != 0 || string(r.Err) != "022" {
			t.Errorf("%d: %+v", part, r)
		}
	}
}

// A receipt says of no message that it was delivered before the gateway had it, whatever the SMSC says.
func TestDoneAfterAcceptance(t *testing.T) {
	t.Parallel()
	const arrived = int64(1_800_000_000_000_000_000)
	for _, c := range []struct {
		context    sms.Context
		done, want int64
	}{
		{sms.Context{}, 1, arrived}, {sms.Context{}, arrived - 1, arrived}, {sms.Context{}, arrived + 1, arrived + 1},
		{sms.Context{Reference: "r"}, 1, arrived}, {sms.Context{Reference: "r"}, arrived + 1, arrived + 1},
		{sms.Context{}, -5, arrived},
	} {
		g := newRig(t)
		m, f := partOf(g, 0, 1, sms.StateDelivered, "000")
		if f.Mapping.Arrived = arrived; c.context.Reference != "" {
			f.Mapping.Context = c.context.Append(nil)
		}
		r, _ := m.Report()
		r.Done = c.done
		m.SetReport(m.Source(), m.Dest(), &r)
		g.Direct(arrived+2, m, f)
		if r, _ := m.Report(); r.Done != c.want {
			t.Errorf("%d: done %d, want %d", c.done, r.Done, c.want)
		}
	}
}
