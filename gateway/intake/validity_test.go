package intake

import (
	"fmt"
	"testing"
	"time"

	"pmg/sms"
)

// The validity of a message is what its account, or else its connector, allows, counted from its
// delivery time.
func TestLimitValidity(t *testing.T) {
	t.Parallel()
	const none, now = time.Duration(-1), int64(1_800_000_000_000_000_000)
	for _, c := range []struct {
		account, connector     string
		given, deliverAt, want time.Duration // none: not given
	}{
		{"", "", none, 0, none},
		{"", "", time.Hour, 0, time.Hour},
		{"validity: 2h", "", none, 0, 2 * time.Hour},
		{"validity: 2h", "", 3 * time.Hour, 0, 3 * time.Hour},
		{"validity: 2h", "", none, time.Hour, 3 * time.Hour},
		{"", "validity: 1h", none, 0, time.Hour},
		{"validity: 2h", "validity: 1h", none, 0, 2 * time.Hour},
		{"max_validity: 2h", "", none, 0, 2 * time.Hour},
		{"max_validity: 2h", "", 3 * time.Hour, 0, 2 * time.Hour},
		{"max_validity: 2h", "", 3 * time.Hour, time.Hour, 3 * time.Hour},
		{"max_validity: 2h", "max_validity: 1h", 3 * time.Hour, 0, 2 * time.Hour},
		{"validity: 1h, max_validity: 2h", "", none, 0, time.Hour},
		{"", "validity: 1h, max_validity: 2h", 5 * time.Hour, 0, 2 * time.Hour},
		{"validity: 3h", "max_validity: 2h", none, 0, 2 * time.Hour},
	} {
		d := newDesk(t, fmt.Sprintf(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret, %s}]
connectors: [{name: clients, direction: in, address: "127.0.0.1:0", %s}]
`, c.account, c.connector))
		m := &sms.Message{Origin: d.node.Origins.Of("client", "clients")}
		if c.given != none {
			m.Expires = now + int64(c.given)
		}
		if c.deliverAt != 0 {
			m.DeliverAt = now + int64(c.deliverAt)
		}
		d.limitValidity(now, m)
		got := none
		if m.Expires != 0 {
			got = time.Duration(m.Expires - now)
		}
		if got != c.want || (m.Flags&sms.RelativeValidity != 0) != (c.given != c.want) {
			t.Errorf("account %q, connector %q, given %s: %s, want %s; flags %b", c.account, c.connector, c.given, got, c.want, m.Flags)
		}
	}
}
