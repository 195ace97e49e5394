package e2e

import (
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// An account's parameters leave with its messages, whichever profile they are from; a change of the profile is in force after a
// reload, for messages that wait as well.
func TestProfiles(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	profiles := func(pe, window string) string {
		return "profiles:\n  - {name: india, account: {tlvs: [{tlv: 0x1400, value: \"" + pe + "\"}]}}\n" +
			"  - {name: carrier, connector: {window: " + window + "}}\n"
	}
	s := site{
		operator: operator, out: "profile: carrier", top: profiles("11", "1"),
		accounts: "{system_id: shop, password: s3cret, profile: india, tlvs: [{tlv: 0x1401, value: \"22\"}]}",
	}
	g := start(t, s)
	s1, acme, shop := operator.session(), g.bind("transmitter"), g.dial("clients")
	shop.send("bind_transmitter seq=1 system_id=shop password=s3cret")
	shop.want("bind_transmitter_resp", "status=0")
	g.online("operator", 1)
	acme.submit(1, 1)
	acme.accepted(1, 1)
	first := s1.want("submit_sm", `short_message="1"`)
	if strings.Contains(first, "tlv_") {
		t.Errorf("a message of another account is sent as %s", first)
	}
	shop.send(`submit_sm seq=2 destination_addr=46700000001 short_message="2"`)
	shop.want("submit_sm_resp", "status=0")
	shop.send(`submit_sm seq=3 destination_addr=46700000001 short_message="3" tlv_0x1400=39`)
	shop.want("submit_sm_resp", "status=0")
	s.top = profiles("33", "1")
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	s1.answer(0, field(first, "seq"))
	second := s1.want("submit_sm", `short_message="2"`, "tlv_0x1400=3333", "tlv_0x1401=3232")
	s1.answer(0, field(second, "seq"))
	third := s1.want("submit_sm", `short_message="3"`, "tlv_0x1400=39", "tlv_0x1401=3232")
	s1.answer(0, field(third, "seq"))
	testutil.Eventually(t, "all are sent", func() bool { return g.Pending() == 0 })
	s.top = profiles("33", "2") // as if the connector had changed
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	s1.want("unbind")
	if w := g.Gateway.Table.Connector("operator").Config().Window; w != 2 {
		t.Errorf("window %d", w)
	}
}
