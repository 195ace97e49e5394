package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"pmg/cluster/report"
)

// An SMSC is one that the gateway connects to, at one of its addresses.
type SMSC struct {
	Name      string
	Addresses []string
}

// smscs is what a node knows of the SMSCs.
type smscs struct {
	all    atomic.Pointer[[]SMSC]
	reach  atomic.Pointer[report.Reach]                 // nil: the owner has a session with each SMSC
	down   atomic.Pointer[func(time.Duration) []string] // set by SetDown; nil: this node stands by
	paused time.Time                                    // time of the reach that reachMore has logged; for tick alone
}

const (
	dialEvery   = time.Minute      // between two attempts of a node to connect to SMSCs
	dialTimeout = 5 * time.Second  // for an address
	reachFresh  = 90 * time.Second // age up to which the result counts
	// reachPause is the least time between two hand-overs because of SMSCs, so that the work does not go to and fro.
	reachPause = 10 * time.Minute
)

// SetDown sets the function that returns the names of the SMSCs with which the owner's gateway has had no session for a time.
func (n *Node) SetDown(down func(longer time.Duration) []string) { n.smscs.down.Store(&down) }

// connect tries to connect to the SMSCs while the owner is without a session with one of them, at most once in dialEvery.
func (n *Node) connect() {
	every := time.NewTicker(tickEvery)
	defer every.Stop()
	var dialed time.Time
	for {
		switch down, ok := n.findDown(); {
		case !ok:
			n.smscs.reach.Store(nil)
		case time.Since(dialed) >= dialEvery:
			dialed = time.Now()
			n.smscs.reach.Store(connectAll(n.ctx, *n.smscs.all.Load(), down, dial))
		}
		select {
		case <-n.ctx.Done():
			return
		case <-every.C:
		}
	}
}

// findDown reports whether the owner is without a session with an SMSC. On the owner, down has the names of those SMSCs; on
// another node it is nil, because that node has no sessions.
func (n *Node) findDown() (down map[string]bool, ok bool) {
	if f := n.smscs.down.Load(); f != nil {
		down = map[string]bool{}
		for _, name := range (*f)(n.o.HandOverAfter) {
			down[name] = true
		}
		return down, len(down) > 0
	}
	owner := n.Owner()
	for _, s := range *n.seen.Load() {
		if s.Node == owner && owner != n.o.Node && s.Reach != nil && !s.IsSilent(time.Now()) {
			return nil, true
		}
	}
	return nil, false
}

// dial connects to an address, and closes the connection.
func dial(ctx context.Context, address string) error {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// connectAll tries to connect to SMSCs, all of them together. If down is not nil, the node has a session with each SMSC that is
// not in it.
func connectAll(ctx context.Context, all []SMSC, down map[string]bool, dial func(context.Context, string) error) *report.Reach {
	missing := make([]string, len(all))
	var dialing sync.WaitGroup
	for i, s := range all {
		if down != nil && !down[s.Name] {
			continue
		}
		dialing.Go(func() {
			missing[i] = s.Name
			for _, address := range s.Addresses {
				if dial(ctx, address) == nil {
					missing[i] = ""
					return
				}
			}
		})
	}
	dialing.Wait()
	r := &report.Reach{At: time.Now(), Of: len(all), Reached: len(all)}
	for _, name := range missing {
		if name != "" {
			r.Missing = append(r.Missing, name)
			r.Reached--
		}
	}
	return r
}

// chooseNode returns the node that reaches most SMSCs, if these are more than the owner reaches, otherwise "".
func chooseNode(all []State, owner string, own *report.Reach, now time.Time) (to string) {
	if own == nil || now.Sub(own.At) > reachFresh {
		return ""
	}
	most := own.Reached
	for _, s := range all {
		r := s.Reach
		if r == nil || r.Of != own.Of || s.At.Sub(r.At) > reachFresh || !s.MayTakeOver(owner, now) {
			continue
		}
		if r.Reached > most {
			to, most = s.Node, r.Reached
		}
	}
	return to
}

// A reachMove is the latest hand-over because of SMSCs.
type reachMove struct {
	At time.Time `json:"at"`
	To string    `json:"to"`
}

// isRecent reports whether a cell has a hand-over since which reachPause is not over. It may be in the future, because clocks
// differ.
func isRecent(octets []byte, now time.Time) bool {
	var m reachMove
	if json.Unmarshal(octets, &m) != nil {
		return false
	}
	age := now.Sub(m.At)
	return age < reachPause && age > -reachPause
}

// reachMore hands the work over to a node that reaches more SMSCs.
func (n *Node) reachMore(ctx context.Context, all []State, now time.Time) error {
	own := n.smscs.reach.Load()
	if _, ok := n.findDown(); !ok || n.smscs.down.Load() == nil {
		return nil
	}
	to := chooseNode(all, n.o.Node, own, now)
	if to == "" {
		return nil
	}
	cell := n.bucket.Cell(reachCell)
	before, version, err := cell.Read(ctx)
	if err != nil {
		return err
	}
	if isRecent(before, now) {
		if !own.At.Equal(n.smscs.paused) {
			n.smscs.paused = own.At
			n.o.Log.Warn().Strs("smscs", own.Missing).Str("node", to).Msg(
				"cluster: another node reaches more SMSCs than this one, but the work was handed over for that in the last " +
					"ten minutes: it stays")
		}
		return nil
	}
	octets, err := json.Marshal(reachMove{now, to})
	if err != nil {
		return err
	}
	if _, err := cell.Update(ctx, octets, version); err != nil {
		return fmt.Errorf("cannot note a hand-over: %w", err)
	}
	n.o.Log.Warn().Strs("smscs", own.Missing).Str("to", to).Msg(
		"cluster: another node reaches more SMSCs than this one: the work is handed over (cluster.hand_over_after)")
	select {
	case n.handing <- to:
	default: // an operator moves it already
	}
	return nil
}
