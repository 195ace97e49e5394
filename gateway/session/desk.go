package session

import (
	"sync/atomic"

	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/gateway/operate"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/sms"
)

// A Desk is what all sessions share. It is safe for concurrent use.
type Desk struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	logins   *login.Desk
	convert  *convert.Desk
	receipts *receipts.Desk
	intake   *intake.Desk
	operate  *operate.Desk

	waitingForRoom atomic.Int64 // number of submits that wait for room
	sockets        atomic.Int64 // open sockets of clients
	clientSockets  atomic.Int64 // limit of sockets; 0: no limit
}

// NewDesk makes a desk for the lanes of a table.
func NewDesk(
	n *node.Node, k *keep.Keeper, t *route.Table, l *login.Desk, c *convert.Desk, r *receipts.Desk,
	i *intake.Desk, o *operate.Desk,
) *Desk {
	return &Desk{node: n, keep: k, table: t, logins: l, convert: c, receipts: r, intake: i, operate: o}
}

// requestSize is about how many octets a request that waits for room takes in addition
// to its message.
const requestSize = 1024

// waitForRoom counts a submit that begins to wait for room (n is 1) or stops waiting (n is -1).
func (d *Desk) waitForRoom(l *connector.Link, s *connector.Share, m *sms.Message, n int64) {
	l.WaitingForRoom += int(n)
	s.WaitForRoom(n)
	d.waitingForRoom.Add(n)
	s.Use(n * (2*m.Size() + requestSize)) // the PDU that carried the message waits as well
}

// mayWaitForRoom reports whether another submit may wait for room in a share. Waiting submits
// count towards limits.max_jobs, so one account with a full queue must leave most of
// that to the other accounts.
func (d *Desk) mayWaitForRoom(s *connector.Share) bool {
	jobs := int64(d.node.Config().Limits.MaxJobs)
	return d.waitingForRoom.Load() < jobs/2 && s.WaitingForRoom() < max(jobs/8, 1)
}
