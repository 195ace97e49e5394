package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// Notifications of a smsc of UCP come back to the client that submitted, without a route,
// over either protocol and with the id that the client knows, in whichever form the smsc
// writes the recipient.
func TestNotificationsGoBack(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, out: "protocol: ucp, window: 10", accounts: "{system_id: bcme, password: s3cret}",
		more: `{name: ucp, direction: in, address: "127.0.0.1:0", protocol: ucp}`,
	})
	smsc := operator.ucpSession()
	client := g.bind("transceiver")
	other := &ucpPeer{t: t, conn: g.dial("ucp").conn}
	other.send("op60 seq=0 OAdC=bcme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	other.want("op60_result seq=0 status=0")

	seq := 2
	for _, form := range []struct{ accepted, notified string }{
		{"0046700000001", "0046700000001"},
		{"0046700000001", "46700000001"},
		{"46700000001", "0046700000001"},
	} {
		for _, byUCP := range []bool{true, false} {
			stamp := fmt.Sprintf("010126%06d", seq)
			var id string
			if byUCP {
				other.send(fmt.Sprintf("op51 seq=%d AdC=0046700000001 OAdC=1234 NRq=1 NT=7 MT=3", seq))
			} else {
				client.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 registered_delivery=17", seq))
			}
			line := smsc.want("op51 seq=* AdC=0046700000001 OAdC=1234 NRq=1 NT=7 MT=3")
			smsc.send("op51_result seq=" + field(line, "seq") + " status=0 SM=" + form.accepted + ":" + stamp)
			if byUCP {
				_, id, _ = strings.Cut(field(other.want(fmt.Sprintf("op51_result seq=%d status=0 SM=*", seq)), "SM"), ":")
			} else {
				id = field(client.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0"), "message_id")
			}
			seq++
			for _, outcome := range []struct{ dst, rsn, class, stat, err string }{
				{"1", "107", "esm_class=32", "ENROUTE", "107"}, {"2", "010", "esm_class=4", "EXPIRED", "010"},
			} {
				smsc.send(fmt.Sprintf("op53 seq=%d AdC=1234 OAdC=%s SCTS=%s Dst=%s Rsn=%s DSCTS=020136000000 MT=3", seq, form.notified, stamp, outcome.dst, outcome.rsn))
				smsc.want(fmt.Sprintf("op53_result seq=%d status=0", seq))
				seq++
				if byUCP {
					line, err := other.next()
					want := " AdC=1234 OAdC=0046700000001 SCTS=" + id + " Dst=" + outcome.dst + " Rsn=" + outcome.rsn + " DSCTS=020136000000 MT=3 "
					if err != nil || !strings.HasPrefix(line, "op53 ") || !strings.Contains(line, want) {
						t.Fatalf("%+v: got %s, %v, want%s", form, line, err, want)
					}
					other.send("op53_result seq=" + field(line, "seq") + " status=0")
					continue
				}
				line := client.want("deliver_sm", outcome.class, "source_addr=46700000001", "destination_addr=1234")
				if !strings.Contains(line, `short_message="id:`+id+" ") || !strings.Contains(line, " done date:3601020000 stat:"+outcome.stat+" err:"+outcome.err+" ") {
					t.Fatalf("%+v: got %s", form, line)
				}
				client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
			}
		}
	}
	client.fence()
	testutil.Eventually(t, "nothing is under way", func() bool {
		return g.stats("ucp").InFlight.Load() == 0 && g.stats("clients").InFlight.Load() == 0 && g.Pending() == 0
	})
}
