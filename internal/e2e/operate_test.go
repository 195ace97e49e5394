package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/pdulog"
)

// logged returns the entries of a connector's pdu log, when all are written.
func (g *gw) logged(connector string, lines int) (all []pdulog.Entry) {
	g.t.Helper()
	testutil.Eventually(g.t, "the pdu log is written", func() bool {
		b, err := os.ReadFile(filepath.Join(g.dir, connector+".log"))
		if err != nil {
			return false
		}
		all = nil
		for line := range strings.Lines(string(b)) {
			e, err := pdulog.Parse([]byte(strings.TrimSuffix(line, "\n")))
			if err != nil {
				g.t.Fatal(err)
			}
			all = append(all, e)
		}
		return len(all) >= lines
	})
	return all
}

// The answer that refuses a message has the reason in the pdu log, and the step that has refused it, in every protocol; other
// lines have none.
func TestLinesSayWhyRefused(t *testing.T) {
	parallel(t)
	g := start(t, site{
		operator: newSMSC(t), clients: "window: 9", routes: "{destination: 99, to: operator}",
		more: withAPI + "\n" + `{name: old, direction: in, protocol: ucp, address: "127.0.0.1:0"}`,
	})
	c := g.bind("transceiver")
	c.submit(1, 1)
	c.want("submit_sm_resp")
	old := &ucpPeer{t: t, conn: g.dial("old").conn}
	old.send("op60 seq=0 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100")
	old.want("op60_result seq=0 status=0")
	old.send(`op51 seq=1 AdC=46700000002 OAdC=1234 MT=3 AMsg="hi"`)
	if _, err := old.next(); err != nil {
		t.Fatal(err)
	}
	g.api().do("POST", "/v1/messages", `{"to":"+46700000002","from":"1234","text":"hi"}`)
	for connector, at := range map[string]int{"clients": 3, "old": 3, "api": 1} {
		all := g.logged(connector, at+1)
		for i, e := range all {
			want := ""
			if i == at {
				want = "bad_destination(route)"
			}
			if string(e.Reason) != want || e.ID != nil {
				t.Errorf("%s has reason %q", e.Line, e.Reason)
			}
		}
		if got := strings.Join(all[at].ReasonWords(), " "); got != "bad destination (route)" {
			t.Error(got)
		}
	}
}

// So does the answer that refuses an operation, with the id of the message.
func TestLinesSayWhyOperationsAreRefused(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), clients: "window: 9", more: withAPI}) // it has no session, so that the message waits
	c := g.bind("transceiver")
	c.submit(1, 1)
	id := c.ids(1, 1)[1]
	c.ask("query_sm seq=2 message_id="+id+" source_addr=1234", "status=0")
	c.ask("query_sm seq=3 message_id="+id+" source_addr=5678", queryFail)
	c.ask("cancel_sm seq=4 message_id=0000000000000001 source_addr=1234", cancelFail)
	c.ask("replace_sm seq=5 message_id="+id+" source_addr=1234 schedule_delivery_time=000030000000000R", "status=0x61(ESME_RINVSCHED)")
	g.api().do("DELETE", "/v1/messages/0000000000000001", "")
	g.api().do("GET", "/v1/messages/"+id, "")
	for connector, want := range map[string][]string{
		"clients": {"rejected " + id, "rejected 0000000000000001", "bad_schedule(schedule) " + id}, "api": {"rejected 0000000000000001"},
	} {
		var got []string
		for _, e := range g.logged(connector, map[string]int{"clients": 12, "api": 4}[connector]) {
			if e.Reason != nil {
				got = append(got, string(e.Reason)+" "+string(e.ID))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", connector, got)
		}
	}
}

// The answer to a message to several recipients says why of each that is refused, of some as of all.
func TestLinesSayWhyRecipientsAreRefused(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.routes = "{destination: 46, to: operator}"
		g := start(t, s)
		c := g.bind("transceiver")
		multi := func(seq, n int, to string) {
			c.send(fmt.Sprintf("submit_multi seq=%d source_addr=1234 number_of_dests=%d %s short_message=hi", seq, n, to))
			c.want("submit_multi_resp", fmt.Sprint("seq=", seq))
		}
		const far, near, list = "dest_flag=1 destination_addr=47700000001 ", "dest_flag=1 destination_addr=46700000002 ", "dest_flag=2 dl_name=friends "
		multi(1, 4, far+near+list+near)
		multi(2, 2, far+list)
		multi(3, 1, near)
		all := g.logged("clients", 8)
		for i, want := range map[int]string{3: "bad_destination(route),rejected(read)", 5: "bad_destination(route),rejected(read)", 7: ""} {
			if got := string(all[i].Reason); got != want {
				t.Errorf("%s: %q", all[i].Line, got)
			}
		}
	})
}

// U7: each line about a message has its id and its account, towards clients and SMSCs, even
// for late and repeated answers.
func TestLinesHaveIDAndAccount(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, clients: "window: 3", routes: "{from: operator, to: clients}\n{to: operator}"})
	s, c := operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	g.online("clients", 1)
	c.submit(1, 1)
	id := field(c.want("submit_sm_resp", "status=0"), "message_id")
	taken := s.take(1, 1)
	s.answer(0, taken...)
	s.answer(0, taken...) // a second time, to requests that are answered
	s.send(moLine)
	s.want("deliver_sm_resp")
	c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm"), "seq") + " status=0")
	about := func(e pdulog.Entry) string { return e.Command + " " + string(e.ID) + " " + string(e.Account) }
	var out, in []string
	for _, e := range g.logged("operator", 7) {
		out = append(out, about(e))
	}
	for _, e := range g.logged("clients", 6) {
		in = append(in, about(e))
	}
	mo, _, _ := strings.Cut(strings.TrimPrefix(in[4], "deliver_sm "), " ")
	if len(mo) != 16 || mo == id {
		t.Errorf("the message to the client has id %q", mo)
	}
	for _, side := range []struct{ got, want []string }{
		{out, []string{"bind_transceiver  ", "bind_transceiver_resp  ", "submit_sm " + id + " acme", "submit_sm_resp " + id + " acme",
			"submit_sm_resp " + id + " acme", "deliver_sm  ", "deliver_sm_resp " + mo + " "}},
		{in, []string{"bind_transceiver  ", "bind_transceiver_resp  acme", "submit_sm  acme", "submit_sm_resp  acme", "deliver_sm " + mo + " acme", "deliver_sm_resp " + mo + " acme"}},
	} {
		if strings.Join(side.got, "\n") != strings.Join(side.want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(side.got, "\n"), strings.Join(side.want, "\n"))
		}
	}
}

// U5: the log shows the life of a link to an SMSC: the reason why there is none, once for
// each reason, when it is established, and why it was lost. U6: readiness shows the same.
func TestLinkLife(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	operator.down()
	addr := operator.addr()
	g := start(t, site{operator: operator})
	refused := "cannot connect to " + addr + ": connection refused"
	testutil.Eventually(t, "a connection failed", func() bool { return g.stats("operator").Failing.Load() > 2 })
	if n := g.log.count("warn", refused+"; next attempt in "); n != 1 {
		t.Errorf("it is logged %d times that the connection is refused", n)
	}
	if why := g.NotReady(g.engine); len(why) != 1 || !strings.HasSuffix(why[0], " has no target that works: connector operator: "+refused) {
		t.Errorf("not ready: %q", why)
	}
	operator.up()
	p := operator.accept()
	p.send("bind_transceiver_resp seq=" + field(p.want("bind_transceiver"), "seq") + " status=0xd")
	testutil.Eventually(t, "the refused login is logged", func() bool { return g.log.count("warn", "status 0xd(ESME_RBINDFAIL); next attempt in ") == 1 })
	s := operator.session()
	g.online("operator", 1)
	testutil.Eventually(t, "the login is logged", func() bool { return g.log.count("info", `"message":"bound"`, "ESME_RBINDFAIL") == 1 })
	if why := g.NotReady(g.engine); why != nil {
		t.Errorf("not ready: %q", why)
	}
	operator.down()
	_ = s.conn.Close()
	// If the session has lived long enough, there is no pause for the line to mention.
	testutil.Eventually(t, "the loss is logged", func() bool { return g.log.count("warn", "session lost: ") == 1 })
	equal(t, "connections are logged", g.log.count("info", `"message":"connected"`, addr), 2)
}

// U6: one of two SMSCs may be down. A drain is not ready, nor is a gateway whose
// memory is full.
func TestReadyByRoute(t *testing.T) {
	parallel(t)
	operator, second := newSMSC(t), newSMSC(t)
	second.down()
	g := start(t, site{operator: operator, more: row("second", second, ""), routes: "{destination: \"1\", to: [second, operator]}\n{from: second, to: clients}\n{to: operator}"})
	if why := g.NotReady(g.engine); len(why) != 2 || !strings.Contains(why[1], " has no target that works: connector operator") {
		t.Errorf("not ready before the first login: %q", why)
	}
	s := operator.session()
	g.online("operator", 1)
	if why := g.NotReady(g.engine); why != nil {
		t.Errorf("not ready: %q", why)
	}
	if problems := g.Problems(); problems != nil {
		t.Errorf("problems: %q", problems)
	}
	limit := int64(g.Gateway.Node.Config().Limits.MemoryLimit())
	g.Gateway.Node.Memory.Add(limit)
	if why := g.NotReady(g.engine); len(why) != 1 || !strings.Contains(why[0], "limits.memory") {
		t.Errorf("not ready with full memory: %q", why)
	}
	g.Gateway.Node.Memory.Add(-limit)
	g.Gateway.Node.Drain()
	if why := g.NotReady(g.engine); len(why) != 1 || why[0] != "stopping" {
		t.Errorf("not ready while draining: %q", why)
	}
	_ = s
	operator.down()
}
