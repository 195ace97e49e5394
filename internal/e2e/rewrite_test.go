package e2e

import (
	"testing"
)

// The rules of a connector and of an account change addresses on the wire: in before a
// message is routed, out each time it is sent. A message that is sent again has the same
// addresses as the first time.
func TestRewrite(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		g := start(t, a, site{
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
	})
}

// A reload changes the rules of sessions that stay open.
func TestRewriteReload(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		operator := newSMSC(t)
		before := site{operator: operator, accounts: `{system_id: other, password: s3cret, rewrite: {in: source, set: before}}`}
		g := start(t, a, before)
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
	})
}
