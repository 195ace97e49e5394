package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// long_messages: pass leaves a text in the field in which it came, both ways, however short it is.
func TestPayloadPasses(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.routes = "{from: operator, to: {account: acme}}\n{to: operator}"
		g := start(t, s)
		client, smsc := g.bind("transceiver"), s.operator.session()
		for i, n := range []int{1, 100, 200, 254, 255, 1000} {
			text := fmt.Sprintf(`message_payload="%s"`, strings.Repeat("A", n))
			client.longSubmit(2+i, n, "")
			line := smsc.want("submit_sm")
			if !strings.HasSuffix(line, text) {
				t.Errorf("%d octets: %s", n, line)
			}
			smsc.answer(0, field(line, "seq"))
			smsc.send(fmt.Sprintf("deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 %s", 100+i, text))
			smsc.want("deliver_sm_resp", fmt.Sprint("seq=", 100+i), "status=0")
			if line = client.want("deliver_sm"); !strings.HasSuffix(line, text) {
				t.Errorf("%d octets to the client: %s", n, line)
			}
			client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		}
	})
}
