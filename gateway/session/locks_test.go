package session_test

import (
	"testing"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// The locks that a durable message takes are counted: the committer's, and that of the messages
// that wait to be forgotten.
func TestLocksOfMessages(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	if n := p.g.Keeper.Locks(); n != 0 {
		t.Errorf("%d locks without a store", n)
	}
	_, commit := p.withDisk()
	before := p.g.Keeper.Locks()
	p.submit(p.client())
	p.g.Keeper.Put(p.storing[0].Accepted, nil)
	if n := p.g.Keeper.Locks() - before; n != 1 {
		t.Errorf("%d locks to put a message", n)
	}
	id := p.storing[0].Message.ID
	commit(nil)
	before = p.g.Keeper.Locks()
	m := p.g.Node.Messages.Get()
	m.ID, m.Arrived, m.Origin = id, p.now, p.g.Node.Origins.Of("acme", "clients")
	p.g.Settler.Forget(m, keep.Ending{State: events.Sent, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: p.now}}, nil)
	m.Release()
	if n := p.g.Keeper.Locks() - before; n != 2 {
		t.Errorf("%d locks when it has ended", n)
	}
}
