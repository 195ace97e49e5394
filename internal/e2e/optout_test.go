package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/sms/numbers"
	"pmg/store"
)

// optOuts gives a site a list of opt-outs with replies, which blocks what clients submit, and routes. The messages of mobiles
// go to acme.
func optOuts(t *testing.T, s site) site {
	t.Helper()
	file := filepath.Join(t.TempDir(), "optouts.txt")
	if err := os.WriteFile(file, []byte("# none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.top += fmt.Sprintf("lists: [{name: optouts, file: %q, opt_out_from: [operator], opt_out_to: [\"1234\"], "+
		"stop_reply: You are out., start_reply: Välkommen}]\n", file)
	s.clients += "block: [optouts]"
	s.routes = "{from: operator, to: {account: acme}}\n{to: operator}"
	return s
}

// says makes a mobile send a text, which the client gets.
func says(smsc, client *peer, seq int, text string) {
	smsc.t.Helper()
	smsc.send(fmt.Sprintf("deliver_sm seq=%d source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 dest_addr_ton=3 "+
		"destination_addr=1234 short_message=%q", seq, text))
	smsc.want("deliver_sm_resp", fmt.Sprint("seq=", seq), "status=0")
	client.wantText(text)
}

// A mobile that sends STOP is answered once by the SMSC that it came from, and messages to it are refused, until it sends START.
func TestOptOut(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s = optOuts(t, s)
		dir := t.TempDir()
		s.top += eventsIn(dir)
		g := start(t, s)
		smsc, client := s.operator.session(), g.bind("transceiver")
		g.online("operator", 1)
		reply := func(text string) {
			t.Helper()
			line := smsc.want("submit_sm", "source_addr_ton=3", "source_addr=1234", "dest_addr_ton=1", "dest_addr_npi=1",
				"destination_addr=46700000001")
			if !strings.Contains(line, "short_message="+text) || strings.Contains(line, "registered_delivery") {
				t.Errorf("got %s, want %s", line, text)
			}
			smsc.answer(0, field(line, "seq"))
		}
		says(smsc, client, 101, "Stop")
		reply(`"You are out."`)
		says(smsc, client, 102, "STOP")
		client.send(submitLine(2))
		client.want("submit_sm_resp", "seq=2", "status=0x101(ESME_RPROHIBITED)")
		smsc.fence() // there is no second reply
		says(smsc, client, 103, "start")
		reply(`"V{lkommen"`)
		client.put(3, 3)
		smsc.serve(3, 3)
		g.settled()
		refused := map[sms.Code]int64{}
		g.Node.Origins.Tallies(func(account string, tally *sms.Tally) {
			if account == "acme" {
				tally.RefusedBy(func(why sms.Code, n int64) { refused[why] = n })
			}
		})
		if len(refused) != 1 || refused[sms.OptedOut] != 1 || g.log.count("optouts (block): opted_out") != 1 {
			t.Errorf("refused: %v", refused)
		}
		stats := g.stats("operator")
		if in, out := stats.Accepted.Load(), stats.Sent.Load(); in != 3 || out != 3 || g.Lists.Status()[0].Replies != 2 {
			t.Errorf("%d have come and %d left, %d replies", in, out, g.Lists.Status()[0].Replies)
		}
		register, err := g.Lists.Register("optouts")
		if err != nil {
			t.Fatal(err)
		}
		found, err := register.Look(t.Context(), "46700000001")
		if err != nil || found.On || len(found.History) != 2 || found.History[0].Source != numbers.Start || found.History[1].Source != numbers.Stop {
			t.Fatalf("%+v, %v", found, err)
		}
		client.conn.Close()
		smsc.conn.Close()
		g.stop()
		replies := 0
		changedBy := map[string]bool{found.History[0].ID: false, found.History[1].ID: false} // the messages have these ids
		for _, e := range readEvents(t, dir) {
			if _, known := changedBy[e.ID]; known {
				changedBy[e.ID] = e.Kind == "mo" && e.Source == "46700000001"
			}
			if e.Kind == "submit" && e.Account == "" {
				replies++
				if e.Connector != "operator" || e.ToConnector != "operator" || e.Source != "1234" || e.Destination != "46700000001" ||
					e.State != "sent" {
					t.Errorf("%+v", e)
				}
			}
		}
		equal(t, "events of replies", replies, 2)
		for id, ok := range changedBy {
			if !ok {
				t.Errorf("no message of the mobile has the id %s of a change", id)
			}
		}
	})
}

// replyWaits starts a gateway in whose store a reply waits, behind a message that the SMSC does not answer.
func replyWaits(t *testing.T) (s site, g *gw, smsc, client *peer) {
	t.Helper()
	s = optOuts(t, site{operator: newSMSC(t), out: "window: 1", store: vfs.NewCrashableMem()})
	g = start(t, s)
	smsc, client = s.operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	client.put(1, 1)
	smsc.take(1, 1)
	says(smsc, client, 101, "stop")
	testutil.Eventually(t, "all is stored", func() bool { return g.Pending() == 2 && g.synced() })
	return s, g, smsc, client
}

// A reply that waits is there after a power cut, once, and so is the opt-out.
func TestOptOutAfterRestart(t *testing.T) {
	parallel(t)
	s, g, smsc, client := replyWaits(t)
	g = g.powerCut(&s, client, smsc)
	smsc = s.operator.session()
	smsc.serve(1, 1)
	line := smsc.want("submit_sm", "source_addr=1234", "destination_addr=46700000001")
	smsc.answer(0, field(line, "seq"))
	client = g.bind("transceiver")
	says(smsc, client, 102, "stop")
	smsc.fence()
	g.settled()
	if !strings.Contains(line, `"You are out."`) || !smsc.silent("submit_sm") {
		t.Errorf("got %s", line)
	}
}

// A reply whose connector is gone when the gateway starts again is parked, and goes by no other one.
func TestOptOutWithoutConnector(t *testing.T) {
	parallel(t)
	s, g, smsc, client := replyWaits(t)
	fs := s.store.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{})
	client.conn.Close()
	smsc.conn.Close()
	g.cut()
	beside := newSMSC(t)
	row := fmt.Sprintf("{name: beside, direction: out, address: %q, system_id: pmg, password: secret}", beside.addr())
	g = start(t, site{more: row, routes: "{to: beside}", store: fs})
	other := beside.session()
	other.serve(1, 1)
	testutil.Eventually(t, "the reply is parked", func() bool { return g.Keeper.Aside(store.Parked) == 1 })
	g.settled()
	if other.fence(); !other.silent("submit_sm") {
		t.Error("the reply has gone by another connector")
	}
}

// A reply whose connector is down goes by no other one. It leaves when the SMSC is there again, although a reload has removed
// the connector and the list.
func TestOptOutOfRemovedConnector(t *testing.T) {
	parallel(t)
	beside := newSMSC(t)
	row := fmt.Sprintf("{name: beside, direction: out, address: %q, system_id: pmg, password: secret}", beside.addr())
	s := optOuts(t, site{operator: newSMSC(t), out: "window: 1, failover_after: 100ms, " + again, more: row})
	s.routes = "{from: operator, to: {account: acme}}\n{to: [operator, beside]}"
	g := start(t, s)
	smsc, other, client := s.operator.session(), beside.session(), g.bind("transceiver")
	g.online("operator", 1)
	client.put(1, 1)
	smsc.take(1, 1)
	says(smsc, client, 101, "stop")
	s.operator.down()
	smsc.conn.Close()
	other.serve(1, 1)
	removed := s
	removed.operator, removed.top, removed.clients, removed.routes = nil, "", "", "{to: beside}"
	g.mustReload(removed)
	s.operator.up()
	smsc = s.operator.session()
	line := smsc.want("submit_sm", "source_addr=1234", "destination_addr=46700000001")
	smsc.answer(0, field(line, "seq"))
	smsc.send("unbind_resp seq=" + field(smsc.want("unbind"), "seq") + " status=0")
	g.settled()
	if other.fence(); !other.silent("submit_sm") {
		t.Error("the reply has gone by another connector")
	}
}

// Replies leave by UCP and by HTTP, too.
func TestOptOutByUCP(t *testing.T) {
	parallel(t)
	s := optOuts(t, site{operator: newSMSC(t), out: "protocol: ucp"})
	s.clients = ""
	g := start(t, s)
	smsc, client := s.operator.ucpSession(), g.bind("transceiver")
	g.online("operator", 1)
	smsc.send(`op52 seq=7 AdC=1234 OAdC=46700000001 SCTS=010203040506 MT=3 AMsg="Stop"`)
	smsc.want("op52_result seq=7 status=0")
	smsc.want(`op51 seq=1 AdC=46700000001 OAdC=1234 VP=* MT=3 AMsg="You are out."`)
	smsc.send("op51_result seq=1 status=0 SM=46700000001:270226000000")
	client.wantText("Stop")
	g.settled()
}

func TestOptOutByHTTP(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	h.Answers(202, "0: Accepted for delivery", "")
	s := smscSite(t, h.URL, "preset: kannel")
	list := optOuts(t, s)
	s.top = list.top
	g := start(t, s)
	g.online("operator", 1)
	client := g.bind("transceiver")
	client.submitOne(1, "registered_delivery=1")
	testutil.Eventually(t, "the SMSC is called", func() bool { return len(h.Calls("/cgi-bin/sendsms")) == 1 })
	u := strings.Split(fieldsOf(t, h.Calls("/cgi-bin/sendsms")[0])["dlr-url"], "?")[0]
	u = strings.Replace(u, "receipts", "inbound", 1) + "?token=0123456789&from=%2B46700000001&to=1234&text=stop&charset=ISO-8859-1"
	for range 2 {
		if status, said := callBack(t, "GET", u, "", ""); status != 200 {
			t.Errorf("%d %s", status, said)
		}
		client.wantText("stop")
	}
	testutil.Eventually(t, "the reply has left", func() bool { return len(h.Calls("/cgi-bin/sendsms")) == 2 })
	fields := fieldsOf(t, h.Calls("/cgi-bin/sendsms")[1])
	if fields["from"] != "1234" || fields["to"] != "+46700000001" || fields["text"] != "You are out." || fields["dlr-url"] != "" {
		t.Errorf("%q", fields)
	}
	client.fence()
}
