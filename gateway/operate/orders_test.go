package operate

import (
	"context"
	"testing"
	"testing/synctest"

	"pmg/protocols"
	"pmg/sms"
)

// Operations about a message wait for each other, in their order; those about another or about none do not, and of those
// that have ended nothing is kept.
func TestOrders(t *testing.T) {
	t.Parallel()
	var all orders
	first, second, third, other, none := all.take(5), all.take(5), all.take(5), all.take(6), all.take(0)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, n := range []*order{first, other, none} {
		if err := n.wait(over); err != nil {
			t.Errorf("the first about %d: %v", n.id, err)
		}
	}
	if second.wait(over) == nil || third.wait(over) == nil {
		t.Error("one does not wait for the one before it")
	}
	all.end(first)
	if err := second.wait(t.Context()); err != nil || third.wait(over) == nil {
		t.Errorf("the second: %v", err)
	}
	for _, n := range []*order{second, third, other, none} {
		all.end(n)
	}
	if err := third.wait(t.Context()); err != nil || len(all.last) != 0 {
		t.Errorf("the third: %v; %d are kept", err, len(all.last))
	}
}

// An operation begins when those about its message that came before have ended.
func TestRunsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 0)
		m := r.message(0, 1)
		r.share.Lane.Queues.Push(now, r.share, m)
		begin := func(kind protocols.OperationKind) *Operation {
			return r.Begin(r.client(), protocols.SMPP, protocols.Operation{Kind: kind, ID: m.ID, Source: sms.Address{Addr: []byte("1234")}})
		}
		first, second := begin(protocols.Cancel), begin(protocols.Query)
		go second.Run()
		synctest.Wait()
		first.Run()
		synctest.Wait()
		if first.Code != sms.OK || second.Result.State != sms.StateDeleted {
			t.Errorf("the cancel is %s, the query behind it says %v", first.Code, second.Result.State)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
}
