package cluster

import (
	"fmt"
	"time"

	"pmg/cluster/report"
	"pmg/store/journal/nats"
)

const (
	measureEvery = 5 * time.Second
	fullEvery    = 6 // measurements between two of the stream
	lateTrouble  = 2 // measurements after which trouble is logged
)

// measure asks the servers how full the stream is, and in trouble what is wrong with them.
func (n *Node) measure() {
	every := time.NewTicker(measureEvery)
	defer every.Stop()
	if why := limitDiffers(n.o.Stream, n.o.MaxOctets, n.journal.Limit()); why != "" {
		n.full.Store(&report.Fullness{Limit: why})
		n.o.Log.Warn().Msg("cluster: " + why)
	}
	var levels fullLog
	for turn, troubled := 0, 0; ; turn++ {
		if turn%fullEvery == 0 {
			n.measureStream(&levels)
		}
		if n.trouble() == "" {
			n.sick.Store(nil)
			troubled = 0
		} else {
			n.askHealth()
			if troubled++; troubled == lateTrouble {
				n.o.Log.Warn().Msg("cluster: the servers of NATS do not take what this node writes: " + n.trouble())
			}
		}
		select {
		case <-n.ctx.Done():
			return
		case <-every.C:
		}
	}
}

// measureStream asks how full the stream is. Without an answer, what is known stays.
func (n *Node) measureStream(levels *fullLog) {
	u, _ := n.journal.Fullest() // perhaps the account or the servers did not answer
	if u.Of == "" {
		return
	}
	f := report.Fullness{Share: u.Share(), Of: u.Of, Limit: n.full.Load().Limit}
	n.full.Store(&f)
	if levels.rises(f.Share) {
		n.o.Log.Warn().Float64("share", f.Share).Str("of", f.Of).Msg("cluster: " + f.Advice())
	}
}

// A fullLog knows which shares of the stream's limit were logged.
type fullLog struct{ level float64 }

// rises reports whether a share is above one that has a line of its own, and had none since it was below the first.
func (l *fullLog) rises(share float64) bool {
	before := l.level
	switch {
	case share < report.FullEnough:
		l.level = 0
	case share < report.AlmostFull:
		l.level = max(l.level, report.FullEnough)
	default:
		l.level = report.AlmostFull
	}
	return l.level > before
}

// limitDiffers returns a text if the stream has another limit than the configuration says, which has no effect on a stream that
// exists.
func limitDiffers(stream string, configured, limit int64) string {
	if configured == limit {
		return ""
	}
	octets := func(n int64) string {
		if n == 0 {
			return "no limit"
		}
		return fmt.Sprintf("a limit of %d octets", n)
	}
	edit := configured
	if edit == 0 {
		edit = -1
	}
	return fmt.Sprintf(
		"cluster.max_size says %s, and the stream %s has %s: the option counts only when the stream is made. Change the "+
			"option, or the stream (nats stream edit %s --max-bytes=%d)", octets(configured), stream, octets(limit), stream, edit,
	)
}

// askHealth asks the servers what is wrong with them.
func (n *Node) askHealth() {
	lines := nats.Unhealthy(n.ctx, natsOptions(&n.o))
	n.sick.Store(&lines)
}

// trouble returns why the servers do not take what this node writes, or "".
func (n *Node) trouble() string {
	err := n.journal.Delay()
	if unseen := n.unseen.Load(); err == nil && unseen != nil {
		err = *unseen
	}
	if err == nil {
		return ""
	}
	if lines := n.sick.Load(); lines != nil {
		err = nats.Explained(err, *lines)
	}
	return err.Error()
}
