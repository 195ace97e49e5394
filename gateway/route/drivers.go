package route

import (
	"pmg/protocols"
	"pmg/sms"
)

// driverOf returns the driver of a protocol, or nil if no connector speaks it.
func (r *routes) driverOf(p sms.Protocol) protocols.Driver {
	if int(p) < len(r.drivers) {
		return r.drivers[p].Driver
	}
	return nil
}

// partsOf returns the PartNamer of a protocol, or nil.
func (r *routes) partsOf(p sms.Protocol) protocols.PartNamer {
	if int(p) < len(r.drivers) {
		return r.drivers[p].parts
	}
	return nil
}

// A speaker is the driver of a protocol that a connector speaks.
type speaker struct {
	protocols.Driver
	parts protocols.PartNamer // nil: the protocol has no fields for parts
}

// addDriver adds the driver of a protocol that a connector speaks.
func (r *routes) addDriver(d protocols.Driver) {
	p := int(d.Protocol())
	if p >= len(r.drivers) {
		r.drivers = append(r.drivers, make([]speaker, p+1-len(r.drivers))...)
	}
	parts, _ := d.(protocols.PartNamer)
	r.drivers[p] = speaker{d, parts}
}
