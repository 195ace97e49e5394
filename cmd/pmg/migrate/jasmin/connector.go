package jasmin

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// A connector is a connector of PMG to an SMSC.
type connector struct {
	name            string
	sends, receives bool
	entry           *draft.Entry
	smsc            string // host, port and username; "": unknown
}

// usualConnector are the options without an equal in PMG, with Jasmin's default values.
func usualConnector() map[string]string {
	return map[string]string{
		"con_loss_retry": "yes", "con_fail_retry": "yes", "trx_to": "300", "pdu_red_to": "10", "logrotate": "midnight",
		"loglevel": "20", "logprivacy": "no",
		"coding": "0", "validity": "", "ripf": "0", "def_msg_id": "0",
		"custom_tlvs": "none", "requeue_delay": "120",
	}
}

func (t *translator) addConnector(r *Record) {
	e := &draft.Entry{}
	g := source(smppccm, r, e)
	cid := g.Take("cid")
	if t.connectors[cid] != nil {
		t.draft.Decide("%s: connector %q is shown a second time; this one is left out", g.At, cid)
		return
	}
	e.From = fmt.Sprintf("From smppccm -s %s, %s.", cid, g.At)
	c := &connector{name: draft.Name(cid, t.names), entry: e}
	e.Set("name", c.name)
	e.Set("direction", draft.Word("out"))
	e.Set("public_name", cid)
	if host, port := g.Take("host"), g.Take("port"); host != "" && port != "" {
		e.Set("address", net.JoinHostPort(host, port))
		c.smsc = strings.Join([]string{strings.ToLower(host), port, g.Value("username")}, " ")
	}
	bind := g.Take("bind")
	if !slices.Contains([]string{"transceiver", "transmitter", "receiver"}, bind) {
		e.Decide("bind is %q: it is transceiver here", bind)
		bind = "transceiver"
	}
	c.sends, c.receives = bind != "receiver", bind != "transmitter"
	e.Set("bind", draft.Word(bind))
	if !c.receives {
		e.Set("static", true)
	}
	for _, o := range [][2]string{
		{"username", "system_id"}, {"password", "password"}, {"systype", "system_type"}, {"addr_range", "address_range"},
	} {
		if value := g.Take(o[0]); value != "" {
			e.Set(o[1], value)
			if o[1] == "system_id" && len(value) > draft.SystemID {
				e.Set("long_system_ids", true)
			}
		}
	}
	if g.Is("ssl", false) {
		e.Set("tls", draft.Flow{{Key: "min_version", Value: "1.2"}})
		e.Decide(
			"ssl: Jasmin takes any certificate of the SMSC. PMG checks it by the machine's authorities: pmg probe shows " +
				"whether it is good; else give tls a ca or a pin",
		)
	}
	t.session(e, g)
	types(e, g)
	submits(e, g)
	usual(e, g, usualConnector())
	g.Rest(e, Table())
	t.connectors[cid], t.order = c, append(t.order, c)
	t.draft.Connectors = append(t.draft.Connectors, e)
}

// shareOperators sets the same operator for connectors to one SMSC, such as a transmitter and a receiver: Jasmin matches
// receipts from any connector, PMG within an operator.
func (t *translator) shareOperators() {
	first := map[string]*connector{}
	for _, c := range t.order {
		one := first[c.smsc]
		switch {
		case c.smsc == "":
		case one == nil:
			first[c.smsc] = c
		case fmt.Sprint(one.entry.Get("receipt_ids")) != fmt.Sprint(c.entry.Get("receipt_ids")):
			c.entry.Decide(
				"it leads to the SMSC of connector %s, and its dlr_msgid differs: make receipt_ids the same, and set "+
					"operator: %s, so that receipts find messages of both",
				one.name, one.name,
			)
		default:
			c.entry.Set("operator", one.name)
		}
	}
}

// week is the time, in seconds, for which PMG matches receipts to messages.
const week = 7 * 24 * 3600

// session sets the options of the sessions.
func (t *translator) session(e *draft.Entry, g *draft.Source) {
	for _, o := range []struct {
		name, option string
		least, most  float64
	}{
		{"bind_to", "bind_timeout", 0.1, 600}, {"res_to", "response_timeout", 0.1, 3600},
		{"elink_interval", "enquire_interval", 0, 3600},
	} {
		if s, ok := g.Real(o.name); ok {
			e.Set(o.option, seconds(min(max(s, o.least), o.most)))
		}
	}
	lost, ok := g.Real("con_loss_delay")
	failed, also := g.Real("con_fail_delay")
	if ok || also {
		e.Set("reconnect_delay", seconds(min(max(lost, failed, 0.01), 3600)))
	}
	if ok && also && lost != failed {
		e.Tell("con_loss_delay and con_fail_delay differ: reconnect_delay is the longer one")
	}
	if rate, ok := g.Real("submit_throughput"); ok && rate > 0 {
		e.Set("rate", int(min(max(rate, 1), 1e6)))
		if rate != math.Trunc(rate) {
			e.Decide("submit_throughput = %g: PMG has whole messages a second", rate)
		}
	}
	e.Set("long_messages", draft.Word("split8"))
	if n, ok := g.Number("dlr_msgid", 0, 2); ok {
		e.Set("receipt_ids", draft.Word([]string{"same", "decimal", "hexadecimal"}[n]))
	}
	if s, ok := g.Real("dlr_expiry"); ok && s > week {
		keep := t.draft.Section("receipts")
		keep.Fields = nil
		t.keep = max(t.keep, min(s, 365*24*3600))
		keep.Set("keep", seconds(t.keep))
	}
}

// seconds returns a duration in the form of the configuration.
func seconds(n float64) draft.Word {
	return draft.Word(strconv.FormatFloat(n, 'f', -1, 64) + "s")
}

// submits sets fields of the login and of messages that a message does not determine. 0 is PMG's default, too.
func submits(e *draft.Entry, g *draft.Source) {
	for _, option := range []string{"bind_ton", "bind_npi"} {
		if n, ok := g.Number(option, 0, 255); ok && n > 0 {
			e.Set(option, int(n))
		}
	}
	var fields draft.Flow
	for _, o := range []struct {
		name, key string
		most      int64
	}{{"proto_id", "protocol_id", 255}, {"priority", "priority", 3}} {
		if n, ok := g.Number(o.name, 0, o.most); ok && n > 0 {
			fields = append(fields, draft.Field{Key: o.key, Value: int(n)})
		}
	}
	if fields != nil {
		e.Set("submit", fields)
	}
}

// The values of TON and NPI that rules can have.
const (
	tons = "0 1 2 3 4 5 6"
	npis = "0 1 3 4 6 8 9 10 14 18"
)

// types writes the rules for TON and NPI. Jasmin sets those of the connector for all numbers; PMG keeps names as names.
func types(e *draft.Entry, g *draft.Source) {
	if sender := g.Take("src_addr"); sender != "" {
		e.Add("rewrite", draft.Flow{{Key: "out", Value: draft.Word("source")}, {Key: "default", Value: sender}})
	}
	for _, address := range []string{"src", "dst"} {
		ton, npi := g.Take(address+"_ton"), g.Take(address+"_npi")
		if ton == "" && npi == "" {
			continue
		}
		if !slices.Contains(strings.Fields(tons), ton) || !slices.Contains(strings.Fields(npis), npi) {
			e.Decide("%s_ton is %q, %s_npi %q: ton is one of %s, npi one of %s", address, ton, address, npi, tons, npis)
			continue
		}
		rule := draft.Flow{{Key: "out", Value: draft.Word("destination")}}
		if address == "src" {
			rule = draft.Flow{{Key: "out", Value: draft.Word("source")}, {Key: "match", Value: "[0-9]+"}}
		}
		e.Add("rewrite", append(rule, draft.Field{Key: "ton", Value: ton}, draft.Field{Key: "npi", Value: npi}))
	}
}
