package kannel

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// An smsc is the connector of a group smsc, with the options of Kannel's routing.
type smsc struct {
	entry     *draft.Entry // without name, operator, instances and rate, which finishSMSCs adds
	name      string
	id        string // in lower case
	wanted    string // the preferred name
	sends     bool
	instances int64
	each      float64 // messages a second for each instance; 0: no limit
	validity  int64   // minutes

	allowed, denied, preferred                []string // ids
	allowedPrefix, deniedPrefix, preferPrefix []string
	unrouted                                  bool // a restriction on the connector's messages could not be translated
}

func (t *translator) addSMSC(of *Group) {
	e := &draft.Entry{From: from(of)}
	g := newGroup(of, e)
	kind := strings.ToLower(g.Take("smsc"))
	s := &smsc{entry: e, id: strings.ToLower(g.Take("smsc-id")), wanted: g.Take("smsc-id"), sends: true, instances: 1}
	if !g.Given("smsc-id") {
		s.wanted, s.id = kind, kind+" "+of.At // this id is one that no message can have
	}
	switch kind {
	case "smpp":
	case "emi", "emi2", "emi_ip":
	case "http":
		if !t.isHTTP(of, g.Value("system-type")) {
			return
		}
	case "fake":
		t.draft.Decide(
			"group smsc, %s, smsc = fake (%s): pmgload sink is an SMSC for tests; write a connector to it", of.At,
			t.shown(of),
		)
		return
	default:
		t.draft.Decide("group smsc, %s, smsc = %s (%s): PMG speaks SMPP, UCP and HTTP to SMSCs", of.At, kind, t.shown(of))
		return
	}
	s.routing(g)
	if n, ok := g.Number("instances", 1, 1000); ok {
		s.instances = n
	}
	s.each, _ = g.Real("throughput")
	switch kind {
	case "http":
		t.http(s, g)
	case "smpp":
		s.validity, _ = g.Number("validityperiod", 1, 1<<31)
		t.smpp(s, g)
	default:
		s.validity, _ = g.Number("validityperiod", 1, 1<<31)
		t.ucp(s, g)
	}
}

// routing reads the options that restrict the messages of the SMSC.
func (s *smsc) routing(g *draft.Source) {
	for _, o := range []struct {
		to   *[]string
		name string
	}{{&s.allowed, "allowed-smsc-id"}, {&s.denied, "denied-smsc-id"}, {&s.preferred, "preferred-smsc-id"}} {
		for _, id := range g.List(o.name) {
			*o.to = append(*o.to, strings.ToLower(id))
		}
	}
	for _, o := range []struct {
		to   *[]string
		name string
	}{{&s.allowedPrefix, "allowed-prefix"}, {&s.deniedPrefix, "denied-prefix"}, {&s.preferPrefix, "preferred-prefix"}} {
		for _, p := range g.List(o.name) {
			digits := strings.TrimPrefix(p, "+")
			if strings.Trim(digits, "0123456789") != "" || digits == "" {
				g.Remarks.Decide("%s has %q, which is not a number: it is left out", o.name, p)
				continue
			}
			*o.to = append(*o.to, digits)
		}
	}
	for _, name := range []string{
		"allowed-smsc-id-regex", "denied-smsc-id-regex", "allowed-prefix-regex", "denied-prefix-regex",
	} {
		s.unrouted = s.unrouted || g.Given(name)
	}
	if g.Given("allowed-prefix") && len(s.allowedPrefix) == 0 {
		s.unrouted = true
	}
	if s.unrouted {
		g.Remarks.Decide(
			"no route leads here, because a restriction on its messages could not be translated; write its routes",
		)
	}
}

// common sets the options that all SMSCs have.
func (t *translator) common(e *draft.Entry, g *draft.Source) {
	if g.Is("no-dlr", false) {
		e.Set("receipts", draft.Word("never"))
	}
	if n, ok := g.Number("reconnect-delay", 1, 3600); ok {
		e.Set("reconnect_delay", seconds(n))
	}
	t.retry(e)
	own := g.Take("unified-prefix")
	unify(e, own, "in", "source") // before the unified-prefix of all SMSCs
	unify(e, t.core.Take("unified-prefix"), "in", "source")
	unify(e, own, "out", "destination")
	if number := g.Take("my-number"); number != "" {
		e.Add("rewrite", draft.Flow{{Key: "in", Value: draft.Word("destination")}, {Key: "set", Value: number}})
	}
}

// waits sets the response timeout, which Kannel has for SMPP and UCP alone, and the length of a short message.
func waits(e *draft.Entry, g *draft.Source) {
	if n, ok := g.Number("wait-ack", 1, 3600); ok {
		e.Set("response_timeout", seconds(n))
	}
	switch n, ok := g.Number("wait-ack-expire", 0, 2); {
	case !ok:
	case n == 2:
		e.Decide(
			"wait-ack-expire = 2: Kannel waits forever for an answer; with on_unknown: fail a message without one is " +
				"not sent again",
		)
	default:
		e.Set("on_unknown", draft.Word("resend"))
	}
	if n, ok := g.Number("max-sms-octets", 1, 1<<31); ok && n != octetsOfPart {
		e.Decide(
			"max-sms-octets = %d: a short message of PMG has %d octets; long_messages says how longer texts are sent", n,
			octetsOfPart,
		)
	}
}

// octetsOfPart is the number of octets in a short message, in Kannel unless max-sms-octets is set.
const octetsOfPart = 140

// mostPauses is the number of pauses that are written out.
const mostPauses = 20

// retry sets when a message is sent again after a temporary error of an SMSC.
func (t *translator) retry(e *draft.Entry) {
	again, limited := t.core.Number("sms-resend-retry", -1, 1<<31)
	pause, ok := t.core.Number("sms-resend-freq", 1, 7*24*3600)
	if !ok {
		pause = 60
	}
	switch {
	case !limited && !ok:
	case limited && again == 0:
		e.Set("retry", []string{})
	case limited && again > 0 && again <= mostPauses:
		e.Set("retry", slices.Repeat([]string{string(seconds(pause))}, int(again)))
	default:
		e.Set("retry", []string{string(seconds(pause)), "repeat"})
		if again > 0 {
			e.Tell("sms-resend-retry = %d: a message is sent again until its validity passes", again)
		}
	}
}

// hostPort returns the address of an SMSC.
func hostPort(host string, port int64) string { return net.JoinHostPort(host, fmt.Sprint(port)) }

// add adds a connector, or an instance to a connector with the same options.
func (t *translator) add(s *smsc) {
	for _, other := range t.smscs {
		if other.sameAs(s) {
			other.instances += s.instances
			other.entry.From += " " + s.entry.From
			for _, n := range s.entry.Remarks {
				if !slices.Contains(other.entry.Remarks, n) {
					other.entry.Remarks = append(other.entry.Remarks, n)
				}
			}
			return
		}
	}
	t.smscs = append(t.smscs, s)
}

// sameAs reports whether two connectors differ in nothing but their instances.
func (s *smsc) sameAs(o *smsc) bool {
	return s.id == o.id && s.sends == o.sends && s.each == o.each && s.validity == o.validity &&
		slices.Equal(s.allowed, o.allowed) && slices.Equal(s.denied, o.denied) && slices.Equal(s.preferred, o.preferred) &&
		slices.Equal(s.allowedPrefix, o.allowedPrefix) && slices.Equal(s.deniedPrefix, o.deniedPrefix) &&
		slices.Equal(s.preferPrefix, o.preferPrefix) &&
		draft.Text(draft.Flow(s.entry.Fields)) == draft.Text(draft.Flow(o.entry.Fields))
}

// finishSMSCs adds the options that depend on the other connectors: names, operators, instances, rates.
func (t *translator) finishSMSCs() {
	first := map[string]*smsc{}
	for _, s := range t.smscs {
		e := s.entry
		s.name = draft.Name(s.wanted, t.names)
		head := []draft.Field{{Key: "name", Value: s.name}, {Key: "public_name", Value: s.wanted}} // smsc-id of Kannel
		if one := first[s.id]; one == nil {
			first[s.id] = s
		} else if a, b := fmt.Sprint(one.entry.Get("receipt_ids")), fmt.Sprint(e.Get("receipt_ids")); a != b {
			e.Decide(
				"smsc-id %q: its receipt_ids differ from those of connector %s, so they cannot have the same operator",
				s.wanted, one.name,
			)
		} else {
			e.Set("operator", one.name)
		}
		if s.name != s.wanted && draft.Name(s.wanted, map[string]bool{}) != s.wanted {
			e.Tell("smsc-id = %q: names of connectors have letters, digits, '-' and '_'", s.wanted)
		}
		e.Fields = append(head, e.Fields...)
		if s.instances > 1 {
			e.Set("instances", int(s.instances))
		}
		if rate := s.each * float64(s.instances); rate > 0 {
			e.Set("rate", int(min(max(rate, 1), 1e6)))
			if rate != float64(int(rate)) {
				e.Decide(
					"throughput = %g for each of %d: PMG has whole messages a second for all instances together", s.each,
					s.instances,
				)
			}
		}
		t.draft.Connectors = append(t.draft.Connectors, e)
	}
}
