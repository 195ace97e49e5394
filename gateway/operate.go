package gateway

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// How many operations may be under way, for a session and for all of them. They wait for
// disks and lanes. An account may have one in shareOperating of those that the others leave, so
// that there are always some left for one that has none. Few read all messages.
const (
	maxOperating    = 16
	maxAllOperating = 256
	shareOperating  = 4
	maxSearching    = 4
)

// operate carries out what a client asks about messages that it has submitted. Like a
// submit, that counts towards the account's rate, and is answered before the session ends.
func (c *Conversation[R]) operate(now int64, l *connector.Link, r R) {
	after, ok := c.admit(now, l)
	if !ok || !c.gateway.mayOperate(l) {
		c.answerOperation(now, l, r, sms.Throttled, nil, after)
		return
	}
	request, code := l.Can.Operations.Operation(c.gateway.Clock.Wall(now), c.port.PDU(r))
	if code != sms.OK {
		c.answerOperation(now, l, r, code, nil, after)
		return
	}
	c.gateway.Convert.RewriteOperation(l, &request)
	o := &operation{Operation: request, gateway: c.gateway, client: l.Account, account: l.Account.SystemID, spoken: l.Connector.Protocol}
	o.order = c.gateway.orders.take(o.ID)
	l.Operating++
	c.gateway.operating.Add(1)
	l.Account.Operate(1)
	c.beside(l, r, o.run, func(int64) { l.Operating-- }, func(now int64) {
		l.Operating--
		c.port.IsAbout(r, o.result.ID)
		c.answerOperation(now, l, r, o.code, &o.result, after)
	})
}

// mayOperate reports whether a session may have another operation under way.
func (g *Gateway) mayOperate(l *connector.Link) bool {
	if l.Account == nil || l.Operating >= maxOperating {
		return false
	}
	own := l.Account.Operate(0)
	others := g.operating.Load() - own
	return own < (maxAllOperating-others)/shareOperating
}

func (c *Conversation[R]) answerOperation(now int64, l *connector.Link, r R, code sms.Code, result *protocols.Result, after int64) {
	l.Can.Operations.AnswerOperation(c.port.PDU(r), code, result)
	c.send(now, l, r, after)
}
