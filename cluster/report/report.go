// Package report defines what operators see of the nodes of a cluster.
//
// Start reading with State.
package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A State is the state that a node publishes about once a second.
type State struct {
	Node    string    `json:"node"`
	Began   time.Time `json:"began"` // when the process began to take part, by its clock
	Version string    `json:"version"`
	State   string    `json:"state"`
	Epoch   uint64    `json:"epoch"`
	Reason  string    `json:"reason,omitempty"` // why the node may not take over; empty: the node may take over
	Applied uint64    `json:"applied"`          // place of the last record that the node has applied
	Moved   uint64    `json:"moved"`            // place up to which the node does not need the journal any more
	Config  string    `json:"config"`           // hash of the configuration that all nodes must share
	At      time.Time `json:"at"`               // when the node published this state, by the node's clock
	Sum     Sum       `json:"sum"`
	Full    Fullness  `json:"full"`
	Trouble string    `json:"trouble,omitempty"` // why the servers of NATS do not take what the node writes
	Reach   *Reach    `json:"reach,omitempty"`   // nil: the owner has a session with each SMSC
}

// A Reach is the SMSCs that a node has a session with, or that accept its connection.
type Reach struct {
	At      time.Time `json:"at"` // when the node tried, by its clock
	Reached int       `json:"reached"`
	Of      int       `json:"of"`
	Missing []string  `json:"missing,omitempty"` // the names of the others
}

// A Fullness is how full the stream of the journal is, as a node knows it.
type Fullness struct {
	Share float64 `json:"share,omitempty"` // used share of the limit that is reached first; 0: no limit is known
	Of    string  `json:"of,omitempty"`    // that limit
	Limit string  `json:"limit,omitempty"` // how the limit of the stream differs from the configuration; empty: it does not
}

// The shares from which on operators should act, also by the alerts of docs/monitoring/pmg.rules.yaml and docs/cluster.md.
const (
	FullEnough = 0.5
	AlmostFull = 0.8
)

// String returns how full the stream is.
func (f *Fullness) String() string { return fmt.Sprintf("%.0f %% of %s is used", 100*f.Share, f.Of) }

// Advice says how full the stream is, and what to do.
func (f *Fullness) Advice() string {
	return f.String() + ". While two nodes run, the stream is trimmed of what is older than cluster.keep: start the other " +
		"nodes, or raise the limit. If they are gone for good: pmg cluster forget NODE for each"
}

// Latest returns how full the stream is by the node that has published last among those that know it. The zero value: none does.
func Latest(all []State) (f Fullness) {
	var at time.Time
	for i := range all {
		if s := &all[i]; s.Full.Of != "" && s.At.After(at) {
			f, at = s.Full, s.At
		}
	}
	return f
}

// Notes returns what operators should know beside the rows: what the servers of NATS refuse, which SMSCs a node does
// not reach, and how full the stream is.
func Notes(all []State) (notes []string) {
	for i := range all {
		s := &all[i]
		if s.Trouble != "" {
			notes = append(notes, "node "+s.Node+": "+s.Trouble)
		}
		if s.Full.Limit != "" {
			notes = append(notes, "node "+s.Node+": "+s.Full.Limit)
		}
		if s.Reach != nil && len(s.Reach.Missing) > 0 {
			notes = append(notes, fmt.Sprintf("node %s reaches %d of %d SMSCs, not %s", s.Node, s.Reach.Reached, s.Reach.Of,
				strings.Join(s.Reach.Missing, ", ")))
		}
	}
	if f := Latest(all); f.Share >= FullEnough {
		notes = append(notes, f.Advice())
	}
	return notes
}

// A Sum is a hash of the whole contents of a copy.
type Sum struct {
	Check uint64 `json:"check,omitempty"` // the number of the check
	At    uint64 `json:"at,omitempty"`    // place of the last record that the hash covers
	Hash  string `json:"hash,omitempty"`
	Error string `json:"error,omitempty"`
}

// SilentFor is the age at which a state shows that its node is probably not running. It is longer
// than an election of the servers and than a node waits for the servers.
const SilentFor = 15 * time.Second

// IsSilent reports whether the state is older than SilentFor.
func (s *State) IsSilent(now time.Time) bool { return now.Sub(s.At) >= SilentFor }

// MayTakeOver reports whether a node could take the work over from an owner.
func (s *State) MayTakeOver(owner string, now time.Time) bool {
	return s.Node != owner && s.Reason == "" && !s.IsSilent(now)
}

// A Row is what operators see of a node.
type Row struct {
	State
	Behind uint64        // how many records the node has less than the node with the most records
	Seen   time.Duration // age of the node's state
}

// Rows returns the rows of all nodes. ready is how many nodes could take the work over from the
// owner.
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

// Figures are the metrics of a node. admin/rows.go explains the tags.
type Figures struct {
	Owner     bool    `json:"owner" metric:"owner" help:"Whether this node owns the work and holds its lease."`
	Epoch     uint64  `json:"epoch" metric:"epoch" help:"Epoch of the owner as this node knows it: it rises with each change of the owner."`
	Record    uint64  `json:"record" metric:"record" help:"Place in the journal of the last record that this node has."`
	Behind    uint64  `json:"behind" metric:"records_behind" help:"Records that this node has less than the node that has most."`
	Ready     int     `json:"ready" metric:"nodes_ready" help:"Nodes, this one included, that could take the work over from the owner."`
	Foreign   uint64  `json:"foreign_messages" metric:"foreign_messages" help:"Messages in the journal's stream that this node has ignored since its start, because no node with the cluster's secret has published them."`
	Heartbeat float64 `json:"heartbeat_seconds" metric:"heartbeat_age_seconds" help:"Seconds since the owner's last heartbeat that was acknowledged, on the owner; on other nodes since they saw a new one. Beyond cluster.lease the owner ends its work."`
	Full      float64 `json:"stream_full_ratio" metric:"stream_full_ratio" help:"Used share of the limit of the journal's stream, or of its account or a server of NATS if that limit is nearer. 0 if no limit is known."`
	Unfit     string  `json:"unfit,omitempty"` // why the node may not take over: one of Obstacles; "": the node may take over
}

// The obstacles: kinds of reasons why a node cannot take over.
const (
	Drained   = "drained"
	Reading   = "reading"
	Different = "configuration"
)

// Obstacles returns the kinds of reasons why a node cannot take over.
func Obstacles() []string { return []string{Drained, Reading, Different} }

// A Report is what a node knows of itself and of the other nodes. It may be a second old.
type Report struct {
	Node  string `json:"node"`
	Owner string `json:"owner_node"` // "": no node owns the work
	Figures
	Nodes   []State `json:"nodes"`
	Trouble string  `json:"trouble,omitempty"` // why the servers of NATS do not take what this node writes
}
