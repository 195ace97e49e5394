package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"pmg/internal/testkit/testutil"
)

// A plugin refuses logins of SMPP and UCP whose credentials are right, as wrong ones are refused. It is not asked about others.
func TestPluginLogins(t *testing.T) {
	parallel(t)
	g := start(t, site{
		operator: newSMSC(t), memory: true,
		more: `{name: ucp, direction: in, protocol: ucp, address: "127.0.0.1:0"}`,
		top: `
plugins:
  - name: places
    on_failure: refuse
    rules: [{if: 'tls or address == "127.0.0.2" and (bind == "receiver" or protocol == "ucp")', do: refuse, why: "not there"}]
hooks: [{at: login, plugin: places}]
`,
	})
	g.bind("transceiver")
	g.dialFrom("127.0.0.2", "clients").bind("transmitter", "acme", "s3cret")
	refused := g.dialFrom("127.0.0.2", "clients")
	refused.send(bindLine("receiver", "acme", "s3cret"))
	refused.want("bind_receiver_resp", "seq=1", "status=0xd(ESME_RBINDFAIL)")
	for from, result := range map[string]string{"127.0.0.1": "status=0", "127.0.0.2": "status=0x7(authentication_failure)"} {
		c := &ucpPeer{t: t, conn: g.dialFrom(from, "ucp").conn}
		c.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
		c.want("op60_result seq=0 " + result)
	}
	wrong := g.dial("clients")
	wrong.send(bindLine("receiver", "acme", "wrong"))
	wrong.want("bind_receiver_resp", "seq=1", "status=0xd(ESME_RBINDFAIL)")
	if n := g.log.count("login refused: a plugin refuses it: places: not there", "127.0.0.2"); n == 0 {
		t.Error("the log does not say why")
	}
	if s := g.Hooks.Status(); s[0].Asked != 5 || s[0].Refused != 2 {
		t.Errorf("%+v", s)
	}
}

// A session whose plugin hangs waits for its login until the deadline, and no other does. What it sends behind its login is
// taken then. One that leaves meanwhile leaves nothing.
func TestPluginLoginHangs(t *testing.T) {
	parallel(t)
	asked := make(chan struct{}, 10)
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer hung.Close()
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, memory: true, accounts: "{system_id: other, password: s3cret}",
		top: "plugins: [{name: hung, on_failure: pass, deadline: 1s, url: \"" + hung.URL + "\"}]\n" +
			"hooks: [{at: login, plugin: hung, accounts: [acme]}]\n",
	})
	smsc, c, gone := operator.session(), g.dial("clients"), g.dial("clients")
	c.send(bindLine("transceiver", "acme", "s3cret"), submitLine(2))
	gone.send(bindLine("transceiver", "acme", "s3cret"))
	testutil.Receive(t, "a question", asked)
	testutil.Receive(t, "a question", asked)
	gone.conn.Close()
	other := g.dial("clients")
	other.bind("transmitter", "other", "s3cret")
	other.send(submitLine(3))
	other.want("submit_sm_resp", "seq=3", "status=0")
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="3"`), "seq"))
	c.want("bind_transceiver_resp", "seq=1", "status=0")
	c.want("submit_sm_resp", "seq=2", "status=0")
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="2"`), "seq"))
	c.conn.Close()
	other.conn.Close()
}

// Many clients whose plugin hangs wait for their logins, as many as workers and queue, and on_failure decides about the others
// immediately. No other client waits for them. Those who wait while their account is removed, with the plugin, are refused
// whatever it says.
func TestPluginLoginHangsForMany(t *testing.T) {
	parallel(t)
	goOn := make(chan struct{})
	hung := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-goOn:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, `{"verdicts": [{}]}`)
	}))
	defer hung.Close()
	s := site{
		operator: newSMSC(t), memory: true, accounts: "{system_id: gone, password: s3cret}", clients: "instances: 500",
		limits: "prebind: 500, prebind_per_address: 500",
		top: "plugins: [{name: hung, on_failure: pass, deadline: 1m, workers: 2, queue: 50, url: \"" + hung.URL + "\"}]\n" +
			"hooks: [{at: login, plugin: hung, accounts: [gone]}]\n",
	}
	g := start(t, s)
	smsc := s.operator.session()
	var all []*peer
	for range 200 {
		c := g.dial("clients")
		c.send(bindLine("transmitter", "gone", "s3cret"))
		all = append(all, c)
	}
	testutil.Eventually(t, "on_failure decides about most", func() bool {
		f := g.Hooks.Status()[0]
		return f.InFlight == 2 && f.Waiting == 50 && f.Crowded == 148
	})
	c := g.bind("transmitter")
	id := c.submitOne(2)
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="2"`), "seq"))
	if id == "" {
		t.Error("the message of another client has no id")
	}
	s.accounts, s.top = "", ""
	g.mustReload(s)
	close(goOn)
	answers := map[string]int{}
	for _, gone := range all {
		answers[field(gone.want("bind_transmitter_resp", "seq=1"), "status")]++
		gone.conn.Close()
	}
	if answers["0"] != 148 || answers["0xd(ESME_RBINDFAIL)"] != 52 {
		t.Errorf("the logins are answered %v", answers)
	}
	c.conn.Close()
}
