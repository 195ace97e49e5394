package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// keywordSite returns a site with a route by a keyword to other, and one without to acme.
func keywordSite(s site) site {
	s.accounts = "{system_id: other, password: s3cret}"
	s.routes = "{from: operator, keyword: [VOTE], to: {account: other}}\n{from: operator, to: {account: acme}}\n{to: operator}"
	return s
}

// votePart returns a part of a text that a mobile sends.
func votePart(seq, source, ref, number, total int, text string) string {
	return fmt.Sprintf(`deliver_sm seq=%d source_addr=%d destination_addr=7212 esm_class=64 short_message="\x05\x00\x03\x%02x\x%02x\x%02x%s"`, seq, source, ref, total, number, text)
}

// wantText wants a message with a text behind its header, and accepts it.
func (p *peer) wantText(text string) {
	p.t.Helper()
	line := p.want("deliver_sm")
	if !strings.Contains(line, text+`"`) {
		p.t.Fatalf("want %s, got %s", text, line)
	}
	p.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
}

// The parts that come after a restart go where the first one went before it.
func TestKeywordOfPartsAfterRestart(t *testing.T) {
	parallel(t)
	s := keywordSite(site{operator: newSMSC(t), store: vfs.NewCrashableMem()})
	g := start(t, s)
	smsc := s.operator.session()
	smsc.send(votePart(101, 4670, 7, 1, 2, "VOTE one"))
	smsc.want("deliver_sm_resp", "seq=101", "status=0")
	g = g.powerCut(&s, smsc)
	smsc = s.operator.session()
	acme, other := g.bind("receiver"), g.dial("clients")
	other.bind("receiver", "other", "s3cret")
	other.wantText("VOTE one")
	smsc.send(votePart(101, 4670, 7, 2, 2, "secret two"))
	smsc.want("deliver_sm_resp", "seq=101", "status=0")
	other.wantText("secret two")
	acme.wantNo("deliver_sm")
}

// All parts of a long text go where the word at its beginning leads, in whatever order they come.
func TestKeywordOfParts(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s = keywordSite(s)
		g := start(t, s)
		smsc, acme, other := s.operator.session(), g.bind("receiver"), g.dial("clients")
		other.bind("receiver", "other", "s3cret")
		g.online("clients", 2)
		deliver := func(seq int, line string) {
			smsc.send(line)
			smsc.want("deliver_sm_resp", fmt.Sprint("seq=", seq), "status=0")
		}
		deliver(101, votePart(101, 4670, 7, 1, 3, "VOTE one"))
		other.wantText("VOTE one")
		deliver(102, votePart(102, 4670, 7, 3, 3, "secret three"))
		other.wantText("secret three")
		deliver(103, votePart(103, 4670, 7, 2, 3, "secret two"))
		other.wantText("secret two")
		// Another mobile with the same reference, and no keyword.
		deliver(104, votePart(104, 4671, 7, 1, 2, "hello"))
		acme.wantText("hello")
		deliver(105, votePart(105, 4671, 7, 2, 2, "rest"))
		acme.wantText("rest")
		// Another part comes first: it is to come again.
		smsc.send(votePart(106, 4672, 7, 2, 2, "secret b"))
		smsc.want("deliver_sm_resp", "seq=106", "status=0x14(ESME_RMSGQFUL)")
		deliver(107, votePart(107, 4672, 7, 1, 2, "Vote: a"))
		other.wantText("Vote: a")
		deliver(108, votePart(108, 4672, 7, 2, 2, "secret b"))
		other.wantText("secret b")
		acme.fence()
		other.fence()
		if !acme.silent("deliver_sm") || !other.silent("deliver_sm") {
			t.Error("a part comes twice")
		}
	})
}
