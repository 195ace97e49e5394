package e2e

import (
	"testing"
)

// Optional parameters that nobody knows pass byte for byte, both ways, and with receipts. Rules of
// a connector change those that they name.
func TestTLVs(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), memory: true, routes: "{from: operator, to: {account: acme}}\n{to: operator}",
		out: `tlvs: [{out: drop, tlv: 0x1402}, {out: add, tlv: 0x1401, value: 0x012c}, {in: drop, tlv: 0x1500}, {in: add, tlv: 0x1401, value: 0x0007}]`,
	}
	g := start(t, s)
	c, smsc := g.bind("transceiver"), s.operator.session()
	g.online("operator", 1)
	c.send(`submit_sm seq=2 source_addr=1234 destination_addr=46700000001 registered_delivery=1 short_message="hi" tlv_0x1400=00ff00 tlv_0x1402=01 tlv_0x1400= tlv_0x3fff=01`)
	c.accepted(2, 2)
	line := smsc.want("submit_sm", "tlv_0x1400=00ff00", "tlv_0x1400=", "tlv_0x3fff=01", "tlv_0x1401=012c")
	if field(line, "tlv_0x1402") != "" {
		t.Errorf("%s: a parameter was not dropped", line)
	}
	id := field(line, "seq")
	smsc.answer(0, id)
	for _, more := range []string{`short_message="mo"`, `esm_class=4 short_message="id:` + id + ` stat:DELIVRD"`} {
		smsc.send("deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 " + more + " tlv_0x1400=00ff00 tlv_0x1500=0007")
		smsc.want("deliver_sm_resp", "seq=7", "status=0")
		line = c.want("deliver_sm", "tlv_0x1400=00ff00", "tlv_0x1401=0007")
		c.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	}
}
