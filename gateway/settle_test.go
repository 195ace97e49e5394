package gateway

import (
	"strings"
	"testing"

	"pmg/sms"
)

// The log says that an SMSC throttles, or that its queue is full.
func TestNotTakenIsLogged(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "")
	b := record(g)
	m := &sms.Message{ID: 0xabc, Origin: &sms.Origin{Account: "client", Tally: &sms.Tally{}}}
	for range 3 {
		g.Settler.Settle(g.Table.LaneOf(operator), m, sms.Answer{Code: sms.Throttled, At: now}, false)
	}
	if s := b.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, `"connector":"operator","id":"0000000000000abc","reason":"throttled","account":"client","message":"the peer did not take a message; it is sent again"`) {
		t.Errorf("got %q", s)
	}
	b.Take()
	g.Settler.Settle(g.Table.LaneOf(operator), m, sms.Answer{Code: sms.Lost, At: now + 120*second}, false)
	if s := b.String(); s != "" {
		t.Errorf("after a lost session, which has an entry of its own: %q", s)
	}
}
