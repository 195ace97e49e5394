package main

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"pmg/config"
	"pmg/internal/capture"
	"pmg/pdulog"
)

// usualPort is the port of a connector that the configuration does not have.
const usualPort = 2775

// A logCapture writes the PDUs of a log as a capture.
type logCapture struct {
	file        *capture.Writer
	ports       map[string]logPort // by connector
	connections map[string]uint32  // numbers of the sessions, by connector and instance
	masked      []byte             // PDU without its text
}

// A logPort is the port of a connector.
type logPort struct {
	number uint16
	theirs bool // of the SMSC, to which the gateway connects
}

// newLogCapture begins a capture. Ports are those of a configuration, if it can be read.
func newLogCapture(out io.Writer, file string) (*logCapture, error) {
	c := &logCapture{ports: map[string]logPort{}, connections: map[string]uint32{}}
	if cfg, err := loadQuietly(io.Discard, file); err == nil {
		for i := range cfg.Connectors {
			one := &cfg.Connectors[i]
			c.ports[one.Name] = logPort{portOf(one), one.Direction == config.Out}
		}
	}
	var err error
	c.file, err = capture.NewWriter(out)
	return c, err
}

// portOf returns the port of a connector's first address, or the usual one.
func portOf(c *config.Connector) uint16 {
	for _, address := range append([]string{c.Address}, c.Addresses...) {
		if _, port, err := net.SplitHostPort(address); err == nil {
			if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 {
				return uint16(n)
			}
		}
	}
	return usualPort
}

// write writes the PDU of an entry.
func (c *logCapture) write(e *pdulog.Entry, octets []byte) error {
	port, ok := c.ports[e.Connector]
	if !ok {
		port = logPort{number: usualPort}
	}
	session := fmt.Sprintf("%s/%d", e.Connector, e.Instance)
	number, ok := c.connections[session]
	if !ok {
		number = uint32(len(c.connections))
		c.connections[session] = number
	}
	comment := session
	if len(e.ID) > 0 {
		comment += " id=" + string(e.ID)
	}
	if len(e.Account) > 0 {
		comment += " account=" + strings.ToValidUTF8(string(e.Account), "?")
	}
	return c.file.Write(capture.Segment{
		Time: e.Time, Peer: number, Port: port.number, Ours: e.Received == port.theirs, Data: octets, Comment: comment,
	})
}
