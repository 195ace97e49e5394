package session_test

import (
	"testing"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// The locks that a durable message takes are counted: the committer's.
func TestLocksOfMessages(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	_, commit := p.withDisk()
	before := p.g.Keeper.Batches.Stats().Locks
	p.submit(p.client())
	p.g.Keeper.Put(p.storing[0].Accepted, nil)
	if n := p.g.Keeper.Batches.Stats().Locks - before; n != 1 {
		t.Errorf("%d locks to put a message", n)
	}
	id := p.storing[0].Message.ID
	commit(nil)
	before = p.g.Keeper.Batches.Stats().Locks
	m := p.g.Node.Messages.Get()
	m.ID, m.Arrived, m.Origin = id, p.now, p.g.Node.Origins.Of("acme", "clients")
	p.g.Settler.Forget(m, keep.Ending{State: events.Sent, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: p.now}}, nil)
	m.Release()
	if n := p.g.Keeper.Batches.Stats().Locks - before; n != 1 {
		t.Errorf("%d locks when it has ended", n)
	}
}
