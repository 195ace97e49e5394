package session_test

import (
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// A session whose account was removed, or may not have it any more, is refused what it asks for, though it does not answer our logout.
// One that we log out from for another reason is not.
func TestRevoked(t *testing.T) {
	t.Parallel()
	for _, revoked := range []bool{true, false} {
		p := newPort(t, "")
		l := p.client()
		p.want("before", p.submit(l), "sent", sms.OK)
		p.withLanes()
		cfg := *p.g.Node.Config()
		want := sms.OK
		if revoked {
			cfg.Accounts, want = nil, sms.BadState
		}
		p.reload(&cfg)
		if ends := p.g.Sessions.EndsBy(l, nil); ends != revoked {
			t.Fatalf("it ends: %t", ends)
		}
		p.c.Unbind(p.now, l)
		p.want("while it ends", p.submit(l), "sent", want)
		p.c.Quiet(p.now, l)
		p.want("behind our logout", p.submit(l), "sent", want)
		query := p.operate(l, protocols.Operation{ID: 1})
		p.check()
		if code := query.Code; revoked != (code == sms.BadState) {
			t.Errorf("revoked %t: a query is answered with %s", revoked, code)
		}
		p.c.Over(p.now, l)
	}
}
