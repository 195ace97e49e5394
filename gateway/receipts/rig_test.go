package receipts

import (
	"testing"

	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A rig is a Matcher with a table below it. What ends is deleted, and its receipts are sent.
type rig struct {
	*Matcher
	t        *testing.T
	now      int64
	refunded []store.Mapping
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigWith(t, "")
}

// newRigWith makes a rig whose operator has further options.
func newRigWith(t *testing.T, options string) *rig {
	t.Helper()
	g := roomtest.New(t, roomtest.Operator(options))
	r := &rig{t: t}
	r.Matcher = New(g.Node, g.Keeper, g.Table, hooks.New(nil), r, r.forget)
	r.now = r.Matcher.node.Clock.Now()
	return r
}

// keep opens a store.
func (r *rig) keep(s store.Store) error {
	r.Matcher.keep.Open(s, func(store.Position, error) {})
	return r.SMSCs.Load()
}

// AddRefund implements EventLog.
func (r *rig) AddRefund(_ *store.Batch, v *store.Mapping, _ sms.Money, _ int64) {
	r.refunded = append(r.refunded, *v)
}

// forget ends a message.
func (r *rig) forget(m *sms.Message, e keep.Ending) {
	made := r.OwnReceipt(m, &e)
	r.Matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Delete(m.ID, 0)
		if made.IsAny() {
			r.SendMade(b, &made)
		}
	})
}

// close closes the store.
func (r *rig) close() error {
	r.EndOrphans()
	r.EndWaits()
	r.Matcher.keep.Outgoing.End()
	return r.Matcher.keep.Close()
}

// made returns the receipts that were made and not given to their lanes yet.
func (r *rig) made() []keep.Own {
	all, _ := r.Matcher.keep.Outgoing.Waiting()
	return all
}
