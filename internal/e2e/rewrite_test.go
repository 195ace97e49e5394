package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pmg/cmd/pmg/explain"
	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms/rewrite"
)

// The rules of a connector and of an account change addresses on the wire: in before a
// message is routed, out each time it is sent. A message that is sent again has the same
// addresses as the first time.
func TestRewrite(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator,
		accounts: `{system_id: other, password: s3cret, rewrite: [{in: source, default: "12345"}, {in: destination, deny: ["4790*"]}, {out: source, add: "+"}]}`,
		clients:  `rewrite: [{in: destination, strip: "+"}, {in: destination, match: "0([1-9].*)", replace: "49$1", ton: 1, npi: 1}, {in: source, deny: ["Bank*"]}, {out: destination, ton: auto}]`,
		out:      `retry: [10ms, repeat], rewrite: [{out: destination, add: "00", ton: 0}, {out: source, match: "1234", set: PMG}, {in: source, strip: "00", ton: 1}]`,
		routes:   "{from: operator, to: {account: other}}\n{to: operator, destination: 49}",
	})
	s := operator.session()
	acme, other := g.bind("transmitter"), g.dial("clients")
	other.bind("transceiver", "other", "s3cret")

	submit := func(p *peer, n, source, dest string) {
		p.send("submit_sm seq=" + n + " source_addr=" + source + " destination_addr=" + dest + " short_message=\"" + n + "\"")
	}
	submit(acme, "1", "1234", "0170")
	acme.want("submit_sm_resp", "seq=1", "status=0")
	line := s.want("submit_sm", "source_addr_ton=5", "source_addr=PMG", "destination_addr=0049170", "dest_addr_npi=1", `short_message="1"`)
	s.send("submit_sm_resp seq=" + field(line, "seq") + " status=0x64")
	s.answer(0, field(s.want("submit_sm", "source_addr=PMG", "destination_addr=0049170", `short_message="1"`), "seq"))

	submit(acme, "2", "BANKER", "0170")
	acme.want("submit_sm_resp", "seq=2", "status=0xa(ESME_RINVSRCADR)")
	submit(acme, "3", "1", "0470") // becomes 49470
	acme.want("submit_sm_resp", "seq=3", "status=0")
	s.answer(0, field(s.want("submit_sm", "source_addr=1", "destination_addr=0049470"), "seq"))

	other.send(`submit_sm seq=4 destination_addr=+49170 short_message="4"`)
	other.want("submit_sm_resp", "seq=4", "status=0")
	s.answer(0, field(s.want("submit_sm", "source_addr_ton=3", "source_addr=12345", "destination_addr=0049170"), "seq"))
	submit(other, "5", "1", "4790")
	other.want("submit_sm_resp", "seq=5", "status=0xb(ESME_RINVDSTADR)")

	s.send(`deliver_sm seq=7 source_addr=0049170 destination_addr=12345 short_message="mo"`)
	s.want("deliver_sm_resp", "seq=7", "status=0")
	line = other.want("deliver_sm", "source_addr_ton=1", "source_addr=+49170", "dest_addr_ton=3", "destination_addr=12345", `short_message="mo"`)
	other.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
}

// A reload changes the rules of sessions that stay open.
func TestRewriteReload(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	before := site{operator: operator, accounts: `{system_id: other, password: s3cret, rewrite: {in: source, set: before}}`}
	g := start(t, before)
	s, c := operator.session(), g.dial("clients")
	c.bind("transmitter", "other", "s3cret")
	check := func(n int, fields ...string) {
		t.Helper()
		c.submit(n, n)
		c.accepted(n, n)
		s.answer(0, field(s.want("submit_sm", fields...), "seq"))
	}
	check(1, "source_addr=before", "destination_addr=46700000001")
	after := before
	after.accounts = `{system_id: other, password: s3cret, rewrite: {in: source, set: after}}`
	after.clients = `rewrite: {in: destination, add: "1"}`
	after.out = `rewrite: {out: destination, add: "2"}`
	if err := g.reload(after); err != nil {
		t.Fatal(err)
	}
	check(2, "source_addr=after", "destination_addr=2146700000001")
	after.accounts = `{system_id: other, password: s3cret}`
	after.clients, after.out = "", ""
	if err := g.reload(after); err != nil {
		t.Fatal(err)
	}
	check(3, "source_addr=1234", "destination_addr=46700000001")
}

func onlySMPP(string, *config.Config) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil }

// What pmg explain says of a message is what happens to it.
func TestRewriteExplained(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	s := site{
		operator: operator,
		clients:  `rewrite: [{in: destination, strip: "+", ton: 1}, {in: destination, match: "0([1-9].*)", replace: "49$1"}, {in: source, match: "(?i)a(.*)", replace: "B$1", ton: auto}]`,
		out:      `rewrite: [{out: destination, match: "49.*", add: "00"}, {out: source, ton: 2, npi: 3}, {out: source, match: "Bx+", set: "77"}]`,
		accounts: `{system_id: other, password: s3cret, rewrite: [{in: source, default: NONE}, {in: destination, deny: ["4799*", "112"]}, {in: source, allow: ["B*", NONE, "1*"]}]}`,
		routes:   "{to: operator, destination: [49, 112, 47], account: other}\n{to: operator, destination: 49}",
	}
	g := start(t, s)
	session := operator.session()
	clients := map[string]*peer{"acme": g.bind("transmitter"), "other": g.dial("clients")}
	clients["other"].bind("transmitter", "other", "s3cret")
	refused := regexp.MustCompile("\nRefused as ([a-z_]+) by")
	leaves := regexp.MustCompile(`1\. connector operator: from (.*?)(?: \(TON (\d+), NPI (\d+)\))? to (\d+) \(TON (\d+), NPI (\d+)\)\n`)
	n := 0
	for account, client := range clients {
		for _, from := range []string{"", "1", "axx", "Bank", "Axxxxxxxxxxxxxxx", "+4917012345678"} {
			for _, to := range []string{"49", "+49170", "0170", "112", "47", "04799", "4799", "0112"} {
				n++
				said, err := explain.Ask(g.Gateway.Node.Config(), onlySMPP, explain.Question{Account: account, Connector: "clients", From: from, To: to})
				if err != nil {
					t.Fatal(err)
				}
				source, dest := rewrite.Auto([]byte(from)), rewrite.Auto([]byte(to))
				client.send(fmt.Sprintf("submit_sm seq=%d source_addr_ton=%d source_addr_npi=%d source_addr=%q dest_addr_ton=%d dest_addr_npi=%d destination_addr=%s short_message=\"x\"",
					n, source.TON, source.NPI, from, dest.TON, dest.NPI, to))
				status := "0"
				if r := refused.FindStringSubmatch(said); r != nil {
					status = map[string]string{"bad_source": "0xa(ESME_RINVSRCADR)", "bad_destination": "0xb(ESME_RINVDSTADR)"}[r[1]]
				}
				client.want("submit_sm_resp", fmt.Sprint("seq=", n), "status="+status)
				if status != "0" {
					continue
				}
				w := leaves.FindStringSubmatch(said)
				if w == nil {
					t.Fatal(said)
				}
				var want []string
				for i, name := range []string{"source_addr", "source_addr_ton", "source_addr_npi", "destination_addr", "dest_addr_ton", "dest_addr_npi"} {
					if v := w[i+1]; v != "" && v != "0" && v != "(none)" { // the log leaves out what is 0 or empty
						want = append(want, name+"="+v)
					}
				}
				line := session.want("submit_sm", want...)
				if n := len(strings.Fields(line)); n != len(want)+3 { // and the name, seq and short_message
					t.Errorf("%s, want %s", line, want)
				}
				session.answer(0, field(line, "seq"))
			}
		}
	}
}

// Rules are the same for a peer that speaks UCP.
func TestRewriteUCP(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, out: `protocol: ucp, rewrite: [{out: destination, add: "00"}, {out: source, set: PMG}, {in: source, match: "00(.*)", replace: "$1", ton: 1, npi: 1}]`,
		routes: "{from: operator, to: clients}\n{to: operator}",
	})
	centre, client := operator.ucpSession(), g.bind("transceiver")
	client.submit(1, 1)
	client.accepted(1, 1)
	line := centre.want(`op51 seq=* AdC=0046700000001 OAdC=06D0E611 MT=3 AMsg="1" OTOA=5039`)
	centre.send("op51_result seq=" + field(line, "seq") + " status=0 SM=0046700000001:010203040506")
	centre.send(`op52 seq=7 AdC=1234 OAdC=0046700000001 SCTS=010203040506 MT=3 AMsg="mo"`)
	client.want("deliver_sm", "source_addr_ton=1", "source_addr=46700000001", "destination_addr=1234", `short_message="mo"`)
}
