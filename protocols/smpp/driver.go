package smpp

import (
	"encoding/binary"
	"fmt"

	"pmg/protocols"
)

// defaultMaxPDU is the default of Options.MaxPDU.
const defaultMaxPDU = 64 << 10

// Options are the driver's settings.
type Options struct {
	MaxPDU int // octets; longer PDUs end the connection. 0: 65536
}

// A Driver implements protocols.Driver for SMPP.
type Driver struct{ max int }

// New returns a driver.
func New(o Options) *Driver {
	if o.MaxPDU == 0 {
		o.MaxPDU = defaultMaxPDU
	}
	return &Driver{max: o.MaxPDU}
}

// Name implements protocols.Driver.
func (d *Driver) Name() string { return "smpp" }

// Commands implements protocols.Driver. The first name is for all unknown commands.
func (d *Driver) Commands() []string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	return names
}

// StatusName implements protocols.Driver.
func (d *Driver) StatusName(status uint32) string { return StatusName(status) }

// NewPDU implements protocols.Driver.
func (d *Driver) NewPDU() protocols.PDU { return new(PDU) }

// Frame implements protocols.SessionDriver. It asks for the header first, and then for the length
// in the header.
func (d *Driver) Frame(b []byte) (int, error) {
	if len(b) < HeaderLen {
		return HeaderLen, nil
	}
	n := binary.BigEndian.Uint32(b)
	if n < HeaderLen || uint64(n) > uint64(d.max) {
		return 0, fmt.Errorf("cannot frame pdu: command_length %d is not within %d and %d", n, HeaderLen, d.max)
	}
	return int(n), nil
}

// Decode implements protocols.SessionDriver.
func (d *Driver) Decode(p protocols.PDU, b []byte) error {
	if len(b) > d.max {
		return p.(*PDU).lost(b)
	}
	return p.(*PDU).Decode(b)
}

// ParseLog implements protocols.Driver.
func (d *Driver) ParseLog(p protocols.PDU, line []byte) error { return p.(*PDU).ParseLog(line) }

var (
	_ protocols.Driver  = (*Driver)(nil)
	_ protocols.PDU     = (*PDU)(nil)
	_ protocols.Session = (*session)(nil)
	_ protocols.Options = (*ConnectorOptions)(nil)

	_ protocols.Recipients = (*session)(nil)
	_ protocols.Operations = (*session)(nil)
	_ protocols.Requester  = (*session)(nil)
	_ protocols.Limited    = (*session)(nil)
)
