package cluster

import (
	"time"

	"pmg/cluster/lease"
	"pmg/cluster/report"
)

// Report returns what this node knows of the cluster.
func (n *Node) Report() *report.Report {
	s, r := n.holder.Status(), n.seen.Load()
	now, own := time.Now(), n.State()
	all := append([]State(nil), *r...)
	for i := range all {
		if all[i].Node == own.Node {
			all[i] = own
		}
	}
	foreign, _ := n.shared.Foreign()
	f := report.Figures{
		Owner: s.State == lease.Owner && n.Holds(), Epoch: s.Epoch, Record: own.Applied, Foreign: foreign,
		Heartbeat: n.holder.Quiet().Seconds(), Unfit: n.reason.Load().kind, Full: own.Full.Share,
	}
	rows, ready := report.Rows(all, s.Owner, now)
	for i := range rows {
		if rows[i].Node == own.Node {
			f.Behind = rows[i].Behind
		}
	}
	f.Ready = ready
	return &report.Report{Node: own.Node, Owner: s.Owner, Figures: f, Nodes: all, Trouble: own.Trouble}
}
