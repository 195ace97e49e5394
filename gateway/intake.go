package gateway

import (
	"pmg/connector"
	"pmg/sms"
)

// An Intake accepts messages: each gets an id, and is counted in its lane and in the
// gateway's memory. It is not safe for concurrent use.
type Intake struct {
	gateway  *Gateway
	id, last uint64 // of the block that is in use
	block    uint64

	// These count the messages since the last Flush.
	from  *connector.Connector
	share *connector.Share
	n     int64 // messages that take a place in the queue
	all   int64
	size  int64 // octets
}

// NewIntake makes an Intake that takes block message ids at a time. With more than one
// Intake, only blocks of 1 keep ids in the order of arrival. With blocks of 1 messages
// are counted immediately and not at Flush.
func (g *Gateway) NewIntake(block uint64) *Intake { return &Intake{gateway: g, block: block} }

// HasRoom reports whether a share has room for another message.
func (i *Intake) HasRoom(s *connector.Share) bool {
	if i.share != s {
		i.Flush()
	}
	return s.Room() > i.n && !i.gateway.Memory.Full()
}

// Accept gives m an id and a place in the share.
func (i *Intake) Accept(now int64, m *sms.Message, from *connector.Connector, s *connector.Share) {
	if i.from != from || i.share != s {
		i.Flush()
		i.from, i.share = from, s
	}
	if i.id == i.last {
		i.last = i.gateway.ids.Add(i.block)
		i.id = i.last - i.block
	}
	i.id++
	m.ID = i.id
	i.all++
	i.size += m.Size()
	i.n++
	if m.DeliverAt > now {
		m.Flags |= sms.Scheduled
		m.Origin.Tally.Scheduled.Add(1)
		i.n-- // it takes a place when its time has come
	}
	if i.block == 1 {
		i.Flush()
	}
}

// Flush counts the messages that were accepted since the last Flush. It must be called
// before the lane gets them.
func (i *Intake) Flush() {
	if i.all > 0 {
		i.share.Add(i.n)
		i.gateway.Memory.Add(i.size)
		i.from.Stats.Accepted.Add(i.all)
		i.share.Origin.Tally.Accepted.Add(i.all)
		i.n, i.all, i.size = 0, 0, 0
	}
}
