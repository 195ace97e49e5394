package protocols

import "errors"

// ErrHidden says that a line of the pdu log does not hold all octets of its PDU,
// because some are private or because there were too many.
var ErrHidden = errors.New("the pdu log does not hold all of its octets")
