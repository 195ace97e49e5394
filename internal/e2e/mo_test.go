package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// A mobile's message goes where its destination, its first word and its connector lead: to
// the sessions of an account, balanced, or to another connector. It waits for a client that
// is not bound, over a power cut too.
func TestMO(t *testing.T) {
	parallel(t)
	reserve := newSMSC(t)
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), accounts: "{system_id: other, password: s3cret}",
		more:   fmt.Sprintf("{name: reserve, direction: out, address: %q, system_id: pmg, password: secret}", reserve.addr()),
		routes: "{from: operator, keyword: [STOP, JOIN], to: {account: other}}\n{from: operator, destination: \"72\", to: {account: acme}}\n{from: operator, to: reserve}\n{to: operator}"}
	g := start(t, s)
	smsc, far := s.operator.session(), reserve.session()
	first, second, other := g.bind("receiver"), g.bind("transceiver"), g.dial("clients")
	other.bind("receiver", "other", "s3cret")
	g.online("clients", 3)
	seq := 100
	send := func(command, dest, coding, text string) {
		seq++
		field := "short_message"
		if command == "data_sm" {
			field = "message_payload"
		}
		smsc.send(fmt.Sprintf("%s seq=%d source_addr=46700000001 destination_addr=%s %s %s=\"%s\"", command, seq, dest, coding, field, text))
		smsc.want(command+"_resp", fmt.Sprint("seq=", seq), "status=0")
	}
	take := func(p *peer, text string) {
		t.Helper()
		line := p.want("deliver_sm", "source_addr=46700000001")
		if !strings.Contains(line, text) {
			t.Errorf("got %s, want %s", line, text)
		}
		p.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
	}
	send("deliver_sm", "7212", "", "stop it")
	take(other, "stop it")
	send("data_sm", "7299", "", "Join.")
	take(other, "Join.")
	send("deliver_sm", "7299", "data_coding=8", `\x00s\x00t\x00o\x00p`)
	take(other, `\x00s\x00t\x00o\x00p`)
	for range 4 {
		send("deliver_sm", "7212", "", "stopped")
	}
	for _, p := range []*peer{first, second} { // balanced
		for range 2 {
			take(p, "stopped")
		}
	}
	send("deliver_sm", "99", "", "elsewhere")
	line := far.want("submit_sm", "destination_addr=99")
	far.answer(0, field(line, "seq"))
	for _, p := range []*peer{first, second, other} {
		p.conn.Close()
	}
	testutil.Eventually(t, "no client is left", func() bool { return g.clients() == 0 })
	send("deliver_sm", "7212", "", "later")
	testutil.Eventually(t, "that is stored", func() bool { return g.synced() })
	reserve.down()
	g = g.powerCut(&s, smsc, far)
	s.operator.session()
	other = g.dial("clients")
	other.bind("receiver", "other", "s3cret")
	take(g.bind("receiver"), "later")
	other.wantNo("deliver_sm")
}
