package connector

// A Hold keeps messages from leaving by an out connector, as an operator has asked for. Its
// sessions stay, so that messages, receipts and answers of the SMSC still come. It is
// immutable.
type Hold struct {
	Since int64
	Until int64  // it is over then; 0: it lasts until it is taken back
	By    string // the operator's address
}

// Hold returns what keeps the connector's messages from leaving, nil if nothing does. It is safe
// for concurrent use.
func (c *Connector) Hold() *Hold { return c.hold.Load() }

// SetHold keeps the connector's messages from leaving; nil lets them leave when the lane
// dispatches next. It is safe for concurrent use.
func (c *Connector) SetHold(h *Hold) { c.hold.Store(h) }

// holds reports whether no message may leave, and until when; 0 has no end.
func (l *Lane) holds(now int64) (held bool, until int64) {
	if l.Account != "" {
		return false, 0
	}
	h := l.Home().Hold()
	if h == nil {
		return false, 0
	}
	if h.Until == 0 || now < h.Until {
		return true, h.Until
	}
	if l.Home().hold.CompareAndSwap(h, nil) {
		l.policy.Links.HoldOver(l)
	}
	return false, 0
}
