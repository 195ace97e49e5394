// Package report is what operators see of the nodes of a cluster.
//
// # Start reading
//
// report.go
package report

import (
	"cmp"
	"time"
)

// A State is what a node says of itself, about once a second.
type State struct {
	Node    string    `json:"node"`
	Version string    `json:"version"`
	State   string    `json:"state"`
	Epoch   uint64    `json:"epoch"`
	Reason  string    `json:"reason,omitempty"` // why it may not take over; empty: it may
	Applied uint64    `json:"applied"`          // place of the last record that it has
	Moved   uint64    `json:"moved"`            // up to which place it needs nothing any more
	Config  string    `json:"config"`           // hash of what must be configured alike
	At      time.Time `json:"at"`               // when it said so, by its clock
	Sum     Sum       `json:"sum"`
}

// A Sum is a hash of all that a copy has.
type Sum struct {
	Check uint64 `json:"check,omitempty"` // the number of the question
	At    uint64 `json:"at,omitempty"`    // place of the last record of what was read
	Hash  string `json:"hash,omitempty"`
	Error string `json:"error,omitempty"`
}

// SilentFor is how old what a node says of itself is when it probably does not run: longer than an election of the servers,
// and what a node waits for them.
const SilentFor = 15 * time.Second

// IsSilent reports whether a node has said nothing for a while.
func (s *State) IsSilent(now time.Time) bool { return now.Sub(s.At) >= SilentFor }

// MayTakeOver reports whether a node could take the work over from an owner.
func (s *State) MayTakeOver(owner string, now time.Time) bool {
	return s.Node != owner && s.Reason == "" && !s.IsSilent(now)
}

// A Row is what operators see of a node.
type Row struct {
	State
	Behind uint64        // how many records it has less than the node that has most
	Seen   time.Duration // how long ago it said this
}

// Rows returns what operators see of all nodes, and how many of them could take the work over from an owner.
func Rows(all []State, owner string, now time.Time) (rows []Row, ready int) {
	last := uint64(0)
	for i := range all {
		last = max(last, all[i].Applied)
	}
	for _, s := range all {
		r := Row{s, last - s.Applied, max(0, now.Sub(s.At))}
		if s.MayTakeOver(owner, now) {
			ready++
		}
		if r.Reason = cmp.Or(r.Reason, "-"); s.IsSilent(now) {
			r.State.State, r.Reason = "silent", "it does not run, or does not reach the servers"
		}
		rows = append(rows, r)
	}
	return rows, ready
}

// Figures are the measures of a node. The tags are explained in admin/rows.go.
type Figures struct {
	Owner     bool    `json:"owner" metric:"owner" help:"Whether this node owns the work and holds its lease."`
	Epoch     uint64  `json:"epoch" metric:"epoch" help:"Epoch of the owner as this node knows it: it rises with each change of the owner."`
	Record    uint64  `json:"record" metric:"record" help:"Place in the journal of the last record that this node has."`
	Behind    uint64  `json:"behind" metric:"records_behind" help:"Records that this node has less than the node that has most."`
	Ready     int     `json:"ready" metric:"nodes_ready" help:"Nodes, this one included, that could take the work over from the owner."`
	Heartbeat float64 `json:"heartbeat_seconds" metric:"heartbeat_age_seconds" help:"Seconds since the owner's last heartbeat that was acknowledged, on the owner; on other nodes since they saw a new one. Beyond cluster.lease the owner ends its work."`
	Unfit     string  `json:"unfit,omitempty"` // one of Obstacles: why it may not take over; "": it may
}

// The obstacles: kinds of reasons why a node cannot take over.
const (
	Drained   = "drained"
	Reading   = "reading"
	Different = "configuration"
)

// Obstacles returns the kinds of reasons why a node cannot take over.
func Obstacles() []string { return []string{Drained, Reading, Different} }

// A Report is what a node knows of itself and of the others, up to a second ago.
type Report struct {
	Node  string `json:"node"`
	Owner string `json:"owner_node"` // "": none owns the work
	Figures
	Nodes []State `json:"nodes"`
}
