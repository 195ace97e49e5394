package session

import (
	"sync/atomic"

	"pmg/connector"
	"pmg/gateway/accept"
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

// Sessions are what all sessions share. It is safe for concurrent use.
type Sessions struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	logins   *login.Logins
	convert  *convert.Converter
	receipts *receipts.Matcher
	intake   *intake.Checker
	operate  *operate.Operations

	turns *accept.Turns // of receipts, if there are several conversations

	waitingForRoom atomic.Int64 // number of submits that wait for room
	sockets        atomic.Int64 // number of open sockets of clients
	clientSockets  atomic.Int64 // limit of sockets; 0: no limit
}

// New makes the sessions of a gateway.
func New(
	n *node.Node, k *keep.Keeper, t *route.Table, l *login.Logins, c *convert.Converter, r *receipts.Matcher,
	i *intake.Checker, o *operate.Operations,
) *Sessions {
	return &Sessions{
		node: n, keep: k, table: t, logins: l, convert: c, receipts: r, intake: i, operate: o, turns: accept.NewTurns(),
	}
}

// requestSize is about how many octets a request that waits for room takes in addition
// to its message.
const requestSize = 1024

// waitForRoom counts a submit that begins to wait for room (n is 1) or stops waiting (n is -1).
func (d *Sessions) waitForRoom(l *connector.Link, s *connector.Share, m *sms.Message, n int64) {
	l.WaitingForRoom += int(n)
	s.WaitForRoom(n)
	d.waitingForRoom.Add(n)
	s.Use(n * (2*m.Size() + requestSize)) // the PDU of the message waits too
}

// mayWaitForRoom reports whether another submit may wait for room in a share. Waiting submits
// count towards limits.max_jobs, so an account with a full queue must leave most of the
// jobs to the other accounts.
func (d *Sessions) mayWaitForRoom(s *connector.Share) bool {
	jobs := int64(d.node.Config().Limits.MaxJobs)
	return d.waitingForRoom.Load() < jobs/2 && s.WaitingForRoom() < max(jobs/8, 1)
}
