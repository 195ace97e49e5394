package ucp

import "pmg/protocols"

// Options are the driver's settings.
type Options struct {
	MaxPDU int // limit of octets: a longer frame is invalid. 0: 4096, which is also the maximum
}

// A Driver is UCP. It implements protocols.Driver.
type Driver struct{ max int }

// New returns a driver.
func New(o Options) *Driver {
	if o.MaxPDU == 0 {
		o.MaxPDU = maxFrame
	}
	return &Driver{max: min(max(o.MaxPDU, minFrame), maxFrame)}
}

// Name implements protocols.Driver.
func (d *Driver) Name() string { return "ucp" }

// Commands implements protocols.Driver. The first two stand for unknown operations and their
// results, the last one for octets that are no frame.
func (d *Driver) Commands() []string { return commandNames }

// StatusName implements protocols.Driver.
func (d *Driver) StatusName(status uint32) string { return StatusName(status) }

// NewPDU implements protocols.Driver.
func (d *Driver) NewPDU() protocols.PDU { return new(PDU) }

// Decode implements protocols.SessionDriver.
func (d *Driver) Decode(p protocols.PDU, b []byte) error { return p.(*PDU).Decode(b) }

// ParseLog implements protocols.Driver.
func (d *Driver) ParseLog(p protocols.PDU, line []byte) error { return p.(*PDU).ParseLog(line) }

var (
	_ protocols.Driver  = (*Driver)(nil)
	_ protocols.PDU     = (*PDU)(nil)
	_ protocols.Session = (*session)(nil)
	_ protocols.Options = (*ConnectorOptions)(nil)

	_ protocols.Recipients = (*session)(nil)
)
