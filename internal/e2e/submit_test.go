package e2e

import (
	"testing"
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
