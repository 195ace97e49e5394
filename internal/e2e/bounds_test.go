package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A2: an account whose SMSC is down, and that sends it large messages, keeps no other account out:
// on disk there is room for them, and in memory the account has its part of it. The honest
// account's messages are all accepted and sent.
func TestLargeMessagesBesideOthers(t *testing.T) {
	each(t, func(t *testing.T, a architecture) {
		stores(t, func(t *testing.T, s site) {
			s.accounts = "{system_id: large, password: s3cret}"
			s.limits, s.silent = "memory: 64MiB", true // of which messages have half
			s.more = downRow(t, "dead", "queue_wait: 0s")
			s.routes = "{account: large, to: dead}\n{to: operator}"
			const submit = "submit_sm seq=2 source_addr=1234 destination_addr=46700000001 "
			g := start(t, a, s)
			smsc := s.operator.session()
			large := dial(t, g.addr("clients"))
			large.bind("transmitter", "large", "s3cret")
			const many = 600 // 36 MB
			text, accepted := strings.Repeat("x", 60_000), 0
			for first, b := 0, wire(t, submit+fmt.Sprintf("message_payload=%q", text)); first < many; first += 20 {
				large.write(bytes.Repeat(b, 20))
				for range 20 {
					if strings.Contains(large.want("submit_sm_resp"), "status=0 ") {
						accepted++
					}
				}
			}
			if s.memory && accepted > many/2 || !s.memory && accepted != many {
				t.Errorf("%d large messages are accepted", accepted)
			}
			honest := g.bind("transmitter")
			for range 50 {
				honest.send(submit + fmt.Sprintf("message_payload=%q", text[:20_000]))
				honest.want("submit_sm_resp", "status=0")
				smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
			}
		})
	})
}
