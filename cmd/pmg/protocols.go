package main

import (
	"fmt"

	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// newDriver returns the driver of a protocol. Another protocol is one more case here,
// and one more field of options in config.Connector.
func newDriver(protocol string, c *config.Config) (protocols.Driver, error) {
	switch protocol {
	case "smpp":
		return smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)}), nil
	}
	return nil, fmt.Errorf("cannot speak protocol %q: only smpp is known", protocol)
}
