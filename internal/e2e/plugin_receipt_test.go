package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
)

// Plugins see the receipts of SMSCs and those that the gateway makes. A client does not get one that is refused, but can ask for
// the outcome; another one has the addresses of the verdict.
func TestPluginReceipts(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.top = `
plugins:
  - name: rules
    on_failure: refuse
    rules:
      - {if: 'state == "undeliverable" and error == "042" and connector == "operator"', do: refuse, why: "not their matter"}
      - {if: 'state == "rejected"', do: refuse}
      - {if: 'state == "delivered" and from == "46700000001" and len(id) == 16', from: '"+46709"', to: '"Shop"'}
      - {if: 'state == "expired"', text: '"x"'}
hooks: [{at: receipt, plugin: rules, accounts: [acme]}]
`
		g := start(t, s)
		smsc, c := s.operator.session(), g.bind("transceiver")
		known := map[string]string{}
		for n := 2; n <= 5; n++ {
			id := c.submitOne(n, asks)
			line := smsc.want("submit_sm", fmt.Sprintf(`short_message="%d"`, n))
			if n == 5 {
				smsc.send("submit_sm_resp seq=" + field(line, "seq") + " status=0xb")
				continue
			}
			smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=A%d", field(line, "seq"), n))
			known[fmt.Sprint("A", n)] = id
		}
		smsc.fence()
		smsc.send(`deliver_sm seq=101 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:A2 stat:UNDELIV err:042"`)
		smsc.want("deliver_sm_resp", "seq=101", "status=0")
		smsc.receipt(102, "A3", "DELIVRD")
		line := c.want("deliver_sm", `short_message="id:`+known["A3"], "stat:DELIVRD", "source_addr=46709", `destination_addr=Shop`)
		c.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		smsc.receipt(103, "A4", "EXPIRED")
		c.send("query_sm seq=90 message_id=" + known["A2"] + " source_addr=1234")
		c.want("query_sm_resp", "seq=90", "message_state=5")
		testutil.Eventually(t, "all are decided", func() bool { return g.Hooks.Status()[0].Asked == 4 && g.Pending() == 0 })
		if s := g.Hooks.Status()[0]; s.Refused != 2 || s.Failed != 1 || s.Changed != 1 {
			t.Errorf("%+v", s)
		}
		if c.fence(); !c.silent("deliver_sm") {
			t.Error("the client gets what was refused")
		}
	})
}

// An SMSC is answered when its receipt is stored, though the plugin hangs; other receipts and messages do not wait. If the
// gateway is killed then, plugins are asked again, and the client gets it once. Those about one message stay in their order.
func TestPluginReceiptHangs(t *testing.T) {
	parallel(t)
	asked, goOn := make(chan string, 10), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), `"enroute"`) {
			asked <- string(b)
			select {
			case <-goOn:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, `{"verdicts": [{}]}`)
	}))
	defer server.Close()
	s := site{
		operator: newSMSC(t), store: vfs.NewCrashableMem(), accounts: "{system_id: other, password: s3cret}",
		top: "plugins: [{name: slow, on_failure: refuse, deadline: 1m, url: \"" + server.URL + "\"}]\n" +
			"hooks: [{at: receipt, plugin: slow, accounts: [acme]}]\n",
	}
	g := start(t, s)
	smsc, c := s.operator.session(), g.bind("transceiver")
	var known []string
	for n := 2; n <= 3; n++ {
		known = append(known, c.submitOne(n, "registered_delivery=17"))
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=A%d", field(smsc.want("submit_sm"), "seq"), n))
	}
	smsc.fence()
	smsc.receipt(101, "A2", "ENROUTE")
	smsc.receipt(102, "A2", "DELIVRD")
	testutil.Receive(t, "a question", asked)
	smsc.receipt(103, "A3", "DELIVRD")
	c.wantReceipt(known[1], "DELIVRD")
	testutil.Eventually(t, "it is stored", func() bool { return g.Pending() == 2 && g.synced() })
	g.wantStored(operate.StateAsked, operate.StateAsked)
	for _, what := range []string{operate.RetryMessages, operate.DeleteMessages} {
		g.wantChange(what, "", operate.Selection{}, operate.ResultUnderWay, operate.ResultUnderWay)
	}
	g = g.powerCut(&s, c, smsc)
	c = g.bind("transceiver")
	testutil.Receive(t, "a question", asked)
	close(goOn)
	line := c.want("deliver_sm", "esm_class=32", `short_message="id:`+known[0], "stat:ENROUTE")
	c.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	c.wantReceipt(known[0], "DELIVRD")
	if c.fence(); !c.silent("deliver_sm") {
		t.Error("one came twice")
	}
	g.settled()
}
