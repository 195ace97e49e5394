package e2e

import (
	"testing"
	"time"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
)

// older makes the sessions of clients as old as if they had begun a minute earlier.
func (g *gw) older() {
	g.t.Helper()
	done := make(chan struct{})
	g.engine.Logout(func(l *connector.Link) bool { // on the goroutine that the sessions belong to
		select {
		case <-done:
		default:
			close(done)
		}
		if l.BoundAt != 0 {
			l.Bind(l.BoundAt - int64(time.Minute))
		}
		return false
	})
	select {
	case <-done:
	case <-time.After(testutil.Patience):
		g.t.Fatal("no session is there")
	}
}

// A login beyond max_sessions replaces the oldest session, which is logged out when it has answered what it was given, or when it
// does not in time. Then that goes to the new one.
func TestSessionReplaced(t *testing.T) {
	parallel(t)
	for name, answers := range map[string]bool{"alive": true, "dead": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timeout := "1h"
			if !answers {
				timeout = "1s"
			}
			s := one("max_sessions: 1, sessions_full: replace", ", window: 1, "+again, timeout)
			s.operator, s.memory = newSMSC(t), true
			s.routes = "{from: operator, to: {account: one}}\n{to: operator}"
			g := start(t, s)
			smsc, old := s.operator.session(), g.dial("clients")
			g.online("operator", 1)
			old.bind("transceiver", "one", "s3cret")
			brings := func(seq, text string) {
				smsc.send("deliver_sm seq=" + seq + " source_addr=46700000001 destination_addr=1234 short_message=" + text)
				smsc.want("deliver_sm_resp", "seq="+seq, "status=0")
			}
			g.tryOne()
			old.fence()
			brings("1", `"first"`)
			first := field(old.want("deliver_sm", `short_message="first"`), "seq")
			g.older()
			fresh := g.dial("clients")
			fresh.bind("transceiver", "one", "s3cret")
			if answers {
				brings("2", `"second"`)
				line := fresh.want("deliver_sm", `short_message="second"`)
				fresh.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
				old.send("deliver_sm_resp seq=" + first + " status=0")
			}
			line := old.want("unbind")
			old.send("unbind_resp seq=" + field(line, "seq") + " status=0")
			old.wantEOF()
			if !answers {
				line := fresh.want("deliver_sm", `short_message="first"`)
				fresh.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
			}
			g.tryOne() // the new one is young
			fresh.fence()
			g.settled()
			if g.log.count("session replaced", `"account":"one"`) != 1 {
				t.Error("the log does not say that a session was replaced")
			}
		})
	}
}
