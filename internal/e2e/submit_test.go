package e2e

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// What an operator wants of logins and submits is an option of its connector, also of one that takes it from a profile. What a message
// says itself counts more, whichever way it came.
func TestSubmitOptions(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, memory: true,
		top: "profiles: [{name: carrier, connector: {bind_ton: 1, bind_npi: 8, submit: {service_type: CMT, protocol_id: 65, priority: 1, mode: store}}}]\n",
		out: "profile: carrier, submit: {priority: 2}",
	})
	c, smsc := g.bind("transceiver"), operator.accept()
	smsc.want("bind_transceiver", "addr_ton=1", "addr_npi=8")
	smsc.send("bind_transceiver_resp seq=1 status=0 system_id=SMSC sc_interface_version=52")
	g.online("operator", 1)
	c.send(`submit_sm seq=2 destination_addr=46700000001 short_message="plain"`)
	c.accepted(2, 2)
	smsc.answer(0, field(smsc.want("submit_sm", "service_type=CMT", "protocol_id=65", "priority_flag=2", "esm_class=3"), "seq"))
	c.send(`submit_sm seq=3 service_type=WAP destination_addr=46700000001 esm_class=2 protocol_id=1 priority_flag=3 short_message="own"`)
	c.accepted(3, 3)
	smsc.answer(0, field(smsc.want("submit_sm", "service_type=WAP", "protocol_id=1", "priority_flag=3", "esm_class=2"), "seq"))
}

// An SMSC gets the validity as it takes it. The message's own is as before when the SMSC refuses it for a while.
func TestSubmitValidity(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, store: vfs.NewMem(),
		out: "operations: true, window: 1, retry: {temporary: [1ms, repeat]}, submit: {validity: relative, max_validity: 48h}",
	})
	c, smsc := g.bind("transceiver"), operator.session()
	g.online("operator", 1)
	submit := func(seq int, validity string) string {
		c.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 %s short_message="hi"`, seq, validity))
		return c.ids(seq, seq)[seq]
	}
	for n, validity := range []string{"validity_period=371231000000000+", "validity_period=000003000000000R"} {
		id := submit(n+2, validity)
		for _, status := range []int{0x14, 0x14, 0} {
			smsc.answer(status, field(smsc.want("submit_sm", "validity_period=000002000000000R"), "seq"))
		}
		smsc.fence()
		g.settled()
		c.send(fmt.Sprintf(`replace_sm seq=9 message_id=%s source_addr=1234 validity_period=371231000000000+ short_message="new"`, id))
		smsc.send("replace_sm_resp seq=" + field(smsc.want("replace_sm", "validity_period=000002000000000R"), "seq") + " status=0")
		c.want("replace_sm_resp", "seq=9", "status=0")
	}
	submit(4, "")
	line := smsc.want("submit_sm")
	if field(line, "validity_period") != "" {
		t.Errorf("a message without a validity has one: %s", line)
	}
	smsc.answer(0, field(line, "seq"))
}
