package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// keywordSite has a route by a keyword to other, and one without to acme.
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
