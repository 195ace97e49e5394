package e2e

import (
	"fmt"
	"pmg/internal/testkit/testutil"
	"testing"
)

// The form of UCP with two connections, on both sides: one session sends, another is given
// messages and notifications.
func TestUCPTwoConnections(t *testing.T) {
	parallel(t)
	sends, gives := newSMSC(t), newSMSC(t)
	out := func(name string, s *smsc, traffic string) string {
		return fmt.Sprintf("{name: %s, direction: out, address: %q, protocol: ucp, system_id: pmg, password: secret, static: true, operator: telco, traffic: %s}\n",
			name, s.addr(), traffic)
	}
	g := start(t, site{
		clients: "protocol: ucp, traffic: transmitter",
		more: `{name: deliveries, direction: in, address: "127.0.0.1:0", protocol: ucp, traffic: receiver}` + "\n" +
			out("sender", sends, "transmitter") + out("receiver", gives, "receiver"),
		routes: "{from: receiver, to: deliveries}\n{to: sender}",
	})
	smsc, giver := sends.ucpSession(), gives.ucpSession()
	submitter := g.ucpClient()
	receiver := &ucpPeer{t: t, conn: g.dial("deliveries").conn}
	receiver.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100",
		`op51 seq=1 AdC=46700000001 OAdC=1234 MT=3 AMsg="the wrong way"`)
	receiver.want("op60_result seq=0 status=0")
	receiver.want("op51_result seq=1 status=0x4(operation_not_allowed)")

	submitter.send("op51 seq=1 AdC=0046700000001 OAdC=1234 NRq=1 NT=3 MT=3")
	line := smsc.want("op51 seq=* AdC=0046700000001 OAdC=1234 NRq=1 NT=3 MT=3")
	smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=0046700000001:010126000000")
	submitter.want("op51_result seq=1 status=0 SM=*")
	testutil.Eventually(t, "the message is sent", func() bool { return g.stats("sender").Sent.Load() == 1 }) // without a store nothing keeps a receipt that comes first

	giver.send("op53 seq=1 AdC=1234 OAdC=0046700000001 SCTS=010126000000 Dst=0 Rsn=000 DSCTS=020126000000 MT=3")
	giver.want("op53_result seq=1 status=0")
	giver.send(`op52 seq=2 AdC=1234 OAdC=0046700000001 SCTS=010126000000 MT=3 AMsg="hello"`)
	giver.want("op52_result seq=2 status=0")
	for range 2 {
		line, err := receiver.next()
		if err != nil || !containsAll(line, []string{"AdC=1234", "OAdC="}) {
			t.Fatalf("got %s, %v", line, err)
		}
		receiver.send(line[:4] + "_result seq=" + field(line, "seq") + " status=0")
	}
	submitter.send("op31 seq=2 AdC=acme PID=0539") // nothing came before its result
	submitter.want("op31_result seq=2 status=0 SM=0000")
	testutil.Eventually(t, "nothing is under way", func() bool { return g.Pending() == 0 && g.stats("deliveries").InFlight.Load() == 0 })
}
