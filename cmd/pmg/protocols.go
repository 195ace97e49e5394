package main

import (
	"fmt"

	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// newDriver makes the driver of a protocol. This is the only place that knows
// which protocols there are; a further one is one more case.
func newDriver(protocol string, c *config.Config) (protocols.Driver, error) {
	switch protocol {
	case "smpp":
		return smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)}), nil
	}
	return nil, fmt.Errorf("cannot speak protocol %q", protocol)
}
