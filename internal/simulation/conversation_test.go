package simulation

import (
	"slices"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/session"
	"pmg/sms"
)

// A conversation is one of those of a node. Each session belongs to one of them. If there are several, what one has queued reaches
// the lanes behind its batch, and so behind what others have queued meanwhile.
type conversation struct {
	*node
	talk *session.Conversation[*request]
	out  []keep.Accepted // queued, and not passed on yet
}

func newConversation(n *node) *conversation {
	c := &conversation{node: n}
	several := n.w.conversations
	if n.w.mutation == apart {
		several = 1
	}
	c.talk = session.NewConversation(n.g.Sessions, session.Port[*request](c), several)
	return c
}

// passOn gives the lanes what was queued, at the end of a batch.
func (n *conversation) passOn() {
	out := n.out
	n.out = nil
	for _, a := range out {
		n.push(n.w.now(), a.Share, a.Message)
	}
}

func (n *conversation) tick() {
	n.passOn()
	n.talk.Tick(n.w.now())
}

// push gives a message to its lane.
func (n *node) push(now int64, s *connector.Share, m *sms.Message) {
	n.w.oracle.queued(m)
	n.touch(s.Lane).Queues.Push(now, s, m)
}

// An arrival is a receipt that has come to a node.
type arrival struct {
	*report
	queued bool
}

// came records that a receipt has come, if a PDU is one of a message of the node.
func (o *oracle) came(h *handle, r *request) {
	t, ok := r.pdu.Text()
	if !ok || h.Account != nil || o.w.conversations == 1 {
		return
	}
	one := o.w.station(h.Connector.Name).smsc.byCode[field(string(t.Octets), "err")]
	if one == nil || one.of == nil || field(string(t.Octets), "stat") != one.state {
		return
	}
	r.came = &arrival{report: one}
	one.of.came = append(one.of.came, r.came)
}

// queued checks that a lane gets the receipts of a message in the order in which they came. Those whose message was not known when
// they came take another way.
func (o *oracle) queued(m *sms.Message) {
	this := o.arrivals[m.ID]
	if this == nil {
		return
	}
	this.queued = true
	all := this.of.came
	for _, later := range all[slices.Index(all, this):] {
		if later != this && later.queued {
			o.w.fail("%s is queued behind %s, which came later", this, later)
		}
	}
}
