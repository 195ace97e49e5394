package main

import (
	"fmt"
	"strings"

	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/jasmin"
	"pmg/protocols/httpsms/kannel"
	"pmg/protocols/smpp"
	"pmg/protocols/testsms"
	"pmg/protocols/ucp"
)

// makers makes the drivers. A new protocol is another row here, and another field of options in config.Connector.
var makers = []struct {
	protocol string
	make     func(c *config.Config) vocabulary
}{
	{"smpp", func(c *config.Config) vocabulary {
		return smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)})
	}},
	{"ucp", func(c *config.Config) vocabulary { return ucp.New(ucp.Options{MaxPDU: int(c.Limits.MaxPDU)}) }},
	{"http", func(*config.Config) vocabulary { return httpsms.New(append(jasmin.Payloads(), kannel.Payload())...) }},
	{"test", func(*config.Config) vocabulary { return testsms.New() }},
}

func newDriver(protocol string, c *config.Config) (protocols.Driver, error) {
	for _, m := range makers {
		if m.protocol == protocol {
			return m.make(c), nil
		}
	}
	return nil, fmt.Errorf("cannot speak protocol %q: use %s", protocol, strings.Join(protocolNames(), " or "))
}

// sessionNames returns the names of the protocols whose peers log in and stay connected.
func sessionNames() (names []string) {
	for _, m := range makers {
		if _, ok := m.make(&config.Config{}).(protocols.SessionDriver); ok {
			names = append(names, m.protocol)
		}
	}
	return names
}

// newSessionDriver returns the driver of a protocol that has sessions, with the protocol's own limits.
func newSessionDriver(protocol string) (protocols.SessionDriver, error) {
	driver, err := newDriver(protocol, &config.Config{})
	if err != nil {
		return nil, err
	}
	d, ok := driver.(protocols.SessionDriver)
	if !ok {
		return nil, fmt.Errorf("protocol %s has no sessions: use %s", protocol, strings.Join(sessionNames(), " or "))
	}
	return d, nil
}

// protocolNames returns the protocols that a connector may have.
func protocolNames() (names []string) {
	for _, m := range makers {
		names = append(names, m.protocol)
	}
	return names
}

// newLogProtocols returns the protocols of pdu logs, with the limits of the protocols and not those of a connector.
func newLogProtocols() (all logProtocols) {
	for _, m := range makers {
		all = append(all, m.make(&config.Config{}))
	}
	return all
}
