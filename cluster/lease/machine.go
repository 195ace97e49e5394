package lease

import (
	"errors"
	"fmt"
	"time"
)

// A State is the state of a Holder. It only moves downwards in this list.
type State uint8

// The states.
const (
	Standby   State = iota // the node watches the owner
	Owner                  // the cell names this node as the owner; the node may work while it holds the lease
	Releasing              // the node works no more, and is updating the cell accordingly
	Released               // the node has handed over
	Deposed                // another node has taken over
)

// String returns the name of a state.
func (s State) String() string {
	return [...]string{"standby", "owner", "releasing", "released", "deposed"}[s]
}

// Ended reports whether this is a final state.
func (s State) Ended() bool { return s >= Released }

// A Status is what a Holder knows.
type Status struct {
	Number  uint64 // increases by one with each change
	State   State
	Holding bool   // the lease of this owner has not run out, as far as was noticed; Holds is exact
	Epoch   uint64 // an owner's own epoch; otherwise the epoch that was last seen in the cell, 0 if no node has owned the work
	Owner   string // the owner as last seen in the cell; "": no node owns the work
	Why     string // the last change and its reason, as text for the log
}

// A machine decides when the cell is read and updated, and what follows from the answers. It has no clock, no goroutine and no
// lock: times are nanoseconds of the monotonic clock of its node. At most one call of the cell is under way at a time.
//
//	Standby ──► Owner ──► Deposed
//	   └──► Releasing ◄─┘
//	            └──► Released
type machine struct {
	node              string
	run               uint64
	lease, dead, beat int64

	status   Status
	eligible bool
	unowned  bool   // no node has ever begun to work; see SetBegun
	begun    uint64 // the highest epoch that is known to have begun
	until    int64  // end of the lease: the node may work before this time
	next     string // the node that is to take over from this node
	due      int64  // when the next call of the cell begins

	// The fields below are the machine's knowledge of the cell.
	value   Value
	fault   error  // why value cannot be decoded
	version uint64 // version of value
	least   uint64 // a read with a lower version is stale
	certain bool   // no change is known since value was read or written
	failed  error  // why the last call failed

	// The fields below measure for how long a standby has seen the cell unchanged. The time between
	// two reads of the same version counts even if reads in between have failed, because an update
	// of this version fails if the owner has sent a heartbeat in between.
	known bool  // a read has succeeded
	since int64 // when the first read of version was answered
	quiet int64 // from then to the last read

	heard int64 // when the last acknowledged heartbeat was sent, or another node's heartbeat was seen
}

// A call is the next call that a machine makes of the cell.
type call struct {
	update  bool  // the call is an update, otherwise a read
	value   Value // the new value, if the call is an update
	last    uint64
	timeout int64 // how long the call may take
}

// An answer is the outcome of a call.
type answer struct {
	left    int64 // a time before the call began
	octets  []byte
	version uint64
	err     error
}

func newMachine(o Options, run uint64, now int64) *machine {
	return &machine{
		node: o.Node, run: run, eligible: o.Eligible, due: now,
		heard: now, lease: int64(o.Lease), dead: int64(o.Dead), beat: int64(o.Beat),
		status: Status{Number: 1, Why: "started"},
	}
}

// wake returns when the next call is due, or when a lease ends that was not renewed.
func (m *machine) wake() int64 {
	if m.status.Holding {
		return min(m.due, m.until)
	}
	return m.due
}

// tick updates the status if the lease has ended.
func (m *machine) tick(now int64) {
	if m.status.Holding && now >= m.until {
		why := fmt.Sprintf("no heartbeat was acknowledged for %s", time.Duration(m.lease))
		if m.failed != nil {
			why += ": " + m.failed.Error()
		}
		m.change(m.status.State, false, why)
	}
}

// begin returns the call to make now.
func (m *machine) begin(now int64) call {
	c := call{last: m.version, timeout: m.lease / 3}
	if m.status.Holding {
		c.timeout = min(c.timeout, m.until-now) // so that the end of the lease is noticed
	}
	c.value = Value{Epoch: m.value.Epoch, Run: m.run, Node: m.node}
	switch {
	case !m.certain:
	case m.status.State == Owner:
		c.update = true
	case m.status.State == Releasing:
		c.update, c.value.Vacant, c.value.Next = true, true, m.next
	case m.mayTakeOver():
		c.update = true
		if m.value.Run != m.run {
			c.value.Epoch = max(m.value.Epoch, m.begun) + 1
		}
	}
	return c
}

// mayTakeOver reports whether a standby may try to become the owner.
func (m *machine) mayTakeOver() bool {
	switch {
	case !m.eligible || m.fault != nil || max(m.value.Epoch, m.begun) >= MaxEpoch:
		return false
	case m.value.Run == m.run: // an update of this node has succeeded, although its answer did not come
		return true
	case m.unowned && m.version == 0:
		return true
	case m.value.Vacant && m.value.Node != m.node && (m.value.Next == "" || m.value.Next == m.node):
		return true
	}
	return m.quiet >= m.dead
}

// end handles the outcome of a call.
func (m *machine) end(c call, a answer, now int64) {
	m.due = max(now, a.left+m.beat)
	m.failed = a.err
	switch {
	case a.err != nil:
		if c.update {
			m.certain = false
		}
		if errors.Is(a.err, ErrChanged) {
			m.least = max(m.least, c.last+1)
		}
	case c.update:
		m.updated(c.value, a, now)
	default:
		m.read(a, now)
	}
}

// updated handles a successful update. Only a successful update makes a node the owner.
func (m *machine) updated(v Value, a answer, now int64) {
	before := m.value
	m.heard = a.left
	m.value, m.fault, m.version, m.least, m.certain = v, nil, a.version, a.version, true
	switch {
	case m.status.State == Releasing && v.Vacant:
		m.change(Released, false, "handed over")
	case m.status.State == Releasing: // the update began before the release
		m.status.Epoch, m.due = v.Epoch, now
	case now >= a.left+m.lease: // the answer came too late to extend the lease; the next update is due
	case m.status.State == Standby:
		m.until, m.status.Epoch = a.left+m.lease, v.Epoch
		m.change(Owner, true, m.tookOver(before))
	case m.status.State == Owner:
		m.until = a.left + m.lease
		if !m.status.Holding {
			m.change(Owner, true, "a heartbeat was acknowledged again")
		}
	}
}

// tookOver returns from which node the ownership came, as text.
func (m *machine) tookOver(before Value) string {
	switch {
	case before.Epoch == 0:
		return "no node has owned it before"
	case before.Run == m.run:
		return "an earlier try to take over had succeeded"
	case before.Vacant:
		return "node " + before.Node + " had handed over"
	}
	return fmt.Sprintf("no heartbeat of node %s was seen for %s", before.Node, time.Duration(m.quiet).Round(time.Millisecond))
}

// read handles the result of a read.
func (m *machine) read(a answer, now int64) {
	if a.version < m.least {
		return
	}
	if a.version != m.version {
		m.adopt(a)
		m.heard, m.since = now, now
	} else if !m.known {
		m.since = now
	}
	m.known, m.certain = true, true
	m.quiet = now - m.since
	ours := m.fault == nil && m.value.Run == m.run && !m.value.Vacant
	switch {
	case m.status.State == Standby:
		if m.mayTakeOver() {
			m.due = now
		}
	case ours:
		m.due = now
	case m.status.State == Owner:
		m.until = 0
		m.change(Deposed, false, m.deposed())
	case m.status.State == Releasing:
		m.change(Released, false, "the cell does not name this node any more")
	}
}

// adopt stores a value of the cell that is new to this node.
func (m *machine) adopt(a answer) {
	was, broken := m.value, m.fault != nil
	m.version, m.least = a.version, a.version
	m.value, m.fault = Value{}, nil
	if a.version > 0 {
		m.value, m.fault = Decode(a.octets)
	}
	if m.status.State != Standby {
		return
	}
	m.status.Epoch = m.value.Epoch
	switch {
	case m.fault != nil && !broken:
		m.change(Standby, false, "cannot read who the owner is: "+m.fault.Error())
	case m.fault == nil && (broken || was != m.value):
		m.change(Standby, false, m.standing())
	}
}

// standing returns who the owner is, as text.
func (m *machine) standing() string {
	switch {
	case m.value.Vacant && m.value.Next != "":
		return fmt.Sprintf("node %s has handed over to node %s", m.value.Node, m.value.Next)
	case m.value.Vacant:
		return fmt.Sprintf("node %s has handed over", m.value.Node)
	}
	return fmt.Sprintf("node %s is the owner, with epoch %d", m.value.Node, m.value.Epoch)
}

// deposed returns which node has deposed this node, as text.
func (m *machine) deposed() string {
	if m.fault != nil {
		return "another node has written the cell: " + m.fault.Error()
	}
	return "another node has taken over: " + m.standing()
}

// release begins to hand the ownership over.
func (m *machine) release(next string, now int64) {
	if m.status.State >= Releasing {
		return
	}
	if m.status.State == Standby {
		m.certain = false // an earlier attempt to take over may have succeeded
	}
	m.next, m.until, m.due = next, 0, now
	m.change(Releasing, false, "asked to hand over")
}

// stop gives up the lease, because the node does not renew it any more.
func (m *machine) stop() {
	m.until = 0
	if m.status.Holding {
		m.change(m.status.State, false, "stopped without handing over")
	}
}

// change sets the status.
func (m *machine) change(to State, holding bool, why string) {
	m.status.Number++
	m.status.State, m.status.Holding, m.status.Why = to, holding, why
	m.status.Owner = ""
	if !m.value.Vacant {
		m.status.Owner = m.value.Node
	}
}
