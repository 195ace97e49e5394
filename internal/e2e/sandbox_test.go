package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// sandboxSite is a site whose operator is a connector of protocol test.
func sandboxSite(options string) site {
	return site{
		more:   "{name: operator, direction: out, protocol: test, throttle_pause: 10ms, retry: [10ms, repeat], " + options + "}",
		routes: "{from: operator, to: {account: acme}}\n{to: operator}", memory: true,
	}
}

// submitTo submits message n to a number, and returns the id that it is accepted with.
func (p *peer) submitTo(n int, to, text string) (id string) {
	p.t.Helper()
	p.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=%s registered_delivery=1 short_message=%q", n, to, text))
	return p.ids(n, n)[n]
}

// The last digit of a number decides what becomes of a message, and the client hears of it as of an SMSC's.
func TestSandbox(t *testing.T) {
	parallel(t)
	g := start(t, sandboxSite("receipt_delay: 1ms"))
	g.online("operator", 1)
	c := g.bind("transceiver")
	for n, stat := range []string{"DELIVRD err:000", "DELIVRD err:000", "UNDELIV err:027", "EXPIRED err:000", "REJECTD", "DELIVRD err:000", "", "DELIVRD err:000", "", "DELIVRD err:000"} {
		if stat == "" {
			continue
		}
		to := fmt.Sprint("4670000000", n)
		id := c.submitTo(n+1, to, "hi")
		line := c.want("deliver_sm", "source_addr="+to, "destination_addr=1234", "esm_class=4")
		stat, failure, _ := strings.Cut(stat, " ")
		if !strings.Contains(line, "id:"+id) || !strings.Contains(line, "stat:"+stat) || !strings.Contains(line, failure) {
			t.Errorf("…%d: %s, want %s %s", n, line, stat, failure)
		}
		c.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	}
	c.submitTo(20, "46700000006", "silent")
	c.send(`submit_sm seq=21 source_addr=1234 destination_addr=46700000008 short_message="ping"`)
	c.accepted(21, 21)
	line := c.want("deliver_sm", "source_addr=46700000008", "destination_addr=1234")
	if !strings.HasSuffix(line, `short_message="Re: ping"`) {
		t.Errorf("the reply is %s", line)
	}
	c.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	g.settled()
	c.fence()
	for _, words := range []string{"test_submit to=46700000002", "test_submit_resp status=0 message_id=test-", "test_deliver state=undeliverable error=027", "test_submit_resp status=0xe(TEST_REJECTED)", "test_submit_resp status=0xb(TEST_THROTTLED)"} {
		g.wantLog("operator", strings.Fields(words)...)
	}
	if n := g.stats("operator").Sent.Load(); n != 9 {
		t.Errorf("%d messages are counted as sent, want 9", n)
	}
}

// Clients of UCP and HTTP hear of it, too; a long text has parts, and one outcome.
func TestSandboxClients(t *testing.T) {
	parallel(t)
	s := sandboxSite("receipt_delay: 1ms")
	s.more += `
		{name: ucp, direction: in, protocol: ucp, address: "127.0.0.1:0"}
		{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}`
	s.accounts = "{system_id: shop, password: s3cret, pull: true, connectors: [api]}"
	s.routes = "{to: operator}"
	g := start(t, s)
	g.online("operator", 1)
	u := &ucpPeer{t: t, conn: g.dial("ucp").conn}
	u.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	u.want("op60_result seq=0 status=0")
	u.send(`op51 seq=1 AdC=46700000002 OAdC=1234 NRq=1 NT=3 MT=3 AMsg="hi"`)
	u.want("op51_result seq=1 status=0 SM=*")
	for {
		line, err := u.next()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "op53 ") {
			if !strings.Contains(line, "Dst=2 Rsn=027") {
				t.Errorf("the notification is %s", line)
			}
			u.send("op53_result seq=" + field(line, "seq") + " status=0")
			break
		}
	}
	a := g.api()
	a.name = "shop"
	for to, want := range map[string]string{"46700000009": "message.delivered", "46700000002": "message.undelivered", "46700000003": "message.expired"} {
		words := 10
		if to == "46700000009" {
			words = 60
		}
		if r := a.do("POST", "/v1/messages", `{"from": "1234", "to": "`+to+`", "text": "`+strings.Repeat("word ", words)+`"}`); r.status != 202 {
			t.Fatal(r)
		}
		var ids, types []string
		testutil.Eventually(t, to, func() bool { ids, types = a.events(""); return len(ids) > 0 })
		if len(types) != 1 || types[0] != want {
			t.Errorf("%s: %q, want %s", to, types, want)
		}
		a.acknowledges(ids...)
	}
	g.settled()
}

// Receipts that had not come when the gateway was cut off come after the next start, once.
func TestSandboxRestart(t *testing.T) {
	parallel(t)
	s := sandboxSite("receipt_delay: 1h")
	s.memory, s.store = false, vfs.NewCrashableMem()
	g := start(t, s)
	g.online("operator", 1)
	c := g.bind("transceiver")
	ids := map[string]string{}
	for n, to := range []string{"46700000001", "46700000002", "46700000006"} {
		ids[to] = c.submitTo(n+1, to, "hi")
	}
	g.settled()
	for range 2 {
		s.store = s.store.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{})
		c.conn.Close()
		g.cut()
		s.more = strings.Replace(s.more, "1h", "0s", 1)
		g = start(t, s)
		c = g.bind("transceiver")
		for range len(ids) - 1 {
			line := c.want("deliver_sm", "esm_class=4")
			if to := field(line, "source_addr"); !strings.Contains(line, "id:"+ids[to]) {
				t.Errorf("receipt %s, want %s", line, ids[to])
			}
			c.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		}
		c.fence()
		g.settled()
		ids = map[string]string{"": ""} // after another start none comes
	}
	c.fence()
}

// A test connector can be held, released, given another window and removed.
func TestSandboxOperated(t *testing.T) {
	parallel(t)
	s := sandboxSite("receipt_delay: 1ms")
	g := start(t, s)
	g.online("operator", 1)
	c := g.bind("transceiver")
	operator := g.Gateway.Table.Connector("operator")
	if _, err := g.Gateway.Hold(g.engine, "operator", 0, "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	c.submit(1, 3)
	c.accepted(1, 3)
	if n := operator.Queued(); n != 3 {
		t.Errorf("%d messages wait for a held connector, want 3", n)
	}
	s.more = strings.Replace(s.more, "protocol: test", "protocol: test, window: 2", 1)
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	g.engine.Connect(operator)
	if _, err := g.Gateway.Release(g.engine, "operator", "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	g.settled()
	s.more, s.routes = "", "{to: {account: acme}}"
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "it has gone", func() bool { return operator.Online() == 0 })
}
