package main

import (
	"fmt"

	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// makers makes the drivers. Another protocol is one more row here, and one more field
// of options in config.Connector.
var makers = []struct {
	protocol string
	make     func(l *config.Limits) vocabulary
}{
	{"smpp", func(l *config.Limits) vocabulary { return smpp.New(smpp.Options{MaxPDU: int(l.MaxPDU)}) }},
	{"ucp", func(l *config.Limits) vocabulary { return ucp.New(ucp.Options{MaxPDU: int(l.MaxPDU)}) }},
}

// newDriver returns the driver of a protocol.
func newDriver(protocol string, c *config.Config) (protocols.Driver, error) {
	for _, m := range makers {
		if m.protocol == protocol {
			return m.make(&c.Limits), nil
		}
	}
	return nil, fmt.Errorf("cannot speak protocol %q: only smpp is known", protocol)
}

// protocolNames are the protocols a connector may have.
func protocolNames() (names []string) {
	for _, m := range makers {
		names = append(names, m.protocol)
	}
	return names
}

// newLogProtocols returns the protocols that a log may be written in, without settings:
// each with its own limits.
func newLogProtocols() (all logProtocols) {
	for _, m := range makers {
		all = append(all, m.make(&config.Limits{}))
	}
	return all
}
