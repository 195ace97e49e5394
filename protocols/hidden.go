package protocols

import "errors"

// ErrHidden means that a line of the pdu log does not hold all octets of its PDU, because
// some are private or there were too many.
var ErrHidden = errors.New("the pdu log does not hold all of its octets")
