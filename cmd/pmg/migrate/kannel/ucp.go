package kannel

import (
	"fmt"
	"net"

	"pmg/cmd/pmg/migrate/draft"
)

// maxWindow is the largest window of UCP: one of its hundred numbers is for keep-alives.
const maxWindow = 99

// ucp makes the connectors of an SMSC with EMI, which is UCP: one, and another one that listens if the SMSC connects to deliver.
func (t *translator) ucp(s *smsc, g *draft.Source) {
	e := s.entry
	receive, receives := g.Number("receive-port", 1, 65535)
	e.Set("direction", draft.Word("out"))
	e.Set("protocol", draft.Word("ucp"))
	ucpAddress(e, g)
	name, password := g.Take("smsc-username"), g.Take("smsc-password")
	if name == "" {
		name = g.Take("my-number")
		e.Set("login", draft.Word("none"))
	}
	if name == "" {
		e.Decide("smsc-username and my-number are missing: system_id must be the number that the SMSC knows")
	}
	e.Set("system_id", name)
	if password != "" {
		e.Set("password", password)
	}
	if receives {
		e.Set("traffic", draft.Word("transmitter"))
	}
	ucpSession(e, g, receives)
	networks := prefixes(e, "connect-allow-ip", g.List("connect-allow-ip"))
	waits(e, g)
	t.common(e, g)
	g.Rest(e, Table())
	t.add(s)
	if !receives {
		return
	}
	r := *s
	r.entry = &draft.Entry{From: e.From}
	r.sends, r.wanted, r.each, r.instances = false, s.wanted+"-receiver", 0, 1
	r.entry.Fields = []draft.Field{
		{Key: "direction", Value: draft.Word("out")}, {Key: "protocol", Value: draft.Word("ucp")},
		{
			Key: "listen", Value: net.JoinHostPort("0.0.0.0", fmt.Sprint(receive)),
		}, {Key: "traffic", Value: draft.Word("receiver")}, {Key: "system_id", Value: name},
	}
	if len(networks) > 0 {
		r.entry.Set("networks", networks)
	} else {
		r.entry.Decide("connect-allow-ip is not given: any address may connect to this port: set networks")
	}
	if rules := e.Get("rewrite"); rules != nil {
		r.entry.Set("rewrite", rules)
	}
	t.add(&r)
}

// ucpAddress sets the address of the SMSC.
func ucpAddress(e *draft.Entry, g *draft.Source) {
	host := g.Take("host")
	port, ok := g.Number("port", 1, 65535)
	if host == "" || !ok {
		e.Decide("host or port is missing: address is left out")
	}
	other := g.Take("alt-host")
	otherPort, ok := g.Number("alt-port", 1, 65535)
	if host == "" || port == 0 {
		return
	}
	if other == "" && !ok {
		e.Set("address", hostPort(host, port))
		return
	}
	if other == "" {
		other = host
	}
	if !ok {
		otherPort = port
	}
	e.Set("addresses", []string{hostPort(host, port), hostPort(other, otherPort)})
}

// ucpSession sets the options of the session. A session that only sends is opened when there is something to send,
// unless static is true.
func ucpSession(e *draft.Entry, g *draft.Source, sendsOnly bool) {
	window, given := g.Number("window", 1, 100)
	switch flow, _ := g.Number("flow-control", 0, 1); {
	case flow == 1:
		e.Set("window", 1)
	case given:
		e.Set("window", int(min(window, maxWindow)))
	default:
		e.Set("window", maxWindow)
		e.Tell("window: Kannel's default is 100; many SMSCs discard what comes before they have answered, then write 1")
	}
	n, _ := g.Number("keepalive", 0, 3600)
	e.Set("enquire_interval", seconds(n))
	if n, ok := g.Number("idle-timeout", 1, 1<<31); ok {
		e.Set("idle_max", seconds(n))
		e.Set("static", false)
	} else if sendsOnly {
		e.Set("static", true)
	}
	if value := g.Take("alt-charset"); value != "" {
		e.Decide(
			"alt-charset = %q: for EMI it is a number of a conversion in Kannel; charset of PMG says what the SMSC's "+
				"default alphabet is",
			value,
		)
	}
}
